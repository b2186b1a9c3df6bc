// Problems of Timeloop: read as layers, and the layers read as ours.
#include "config/description.h"
#include "config/layer/layer_reader.h"
#include "fuzz.h"

namespace dlasim {
namespace fuzz_problem {

using namespace fuzz;

std::vector<std::string> seeds()
{
    return {"problem:\n  shape: cnn-layer\n  instance: {C: 3, K: 96, R: 11, S: 11, N: 1, P: 55, Q: 55, Wstride: 4, Hstride: 4}\n",
            R"(problem:
  version: 0.4
  shape:
    name: grouped
    dimensions: [ G, C, M, R, P ]
    coefficients:
    - {name: Wstride, default: 1}
    data_spaces:
    - name: Weights
      projection: [ [[G]], [[C]], [[M]], [[R]] ]
    - name: Inputs
      projection: [ [[G]], [[C]], [[R], [P, Wstride]] ]
    - name: Outputs
      projection: [ [[G]], [[M]], [[P]] ]
      read_write: True
  instance:
    G: 4
    C: 8
    M: 8
    R: 3
    P: 16
)",
            R"(problem:
  shape:
    name: product
    dimensions: [ M, N, K ]
    data-spaces:
    - name: A
      projection: [ [[M]], [[K]] ]
    - name: B
      projection: [ [[K]], [[N]] ]
    - name: Z
      projection: [ [[M]], [[N]] ]
      read-write: true
  instance: {M: 128, N: 64, K: 32}
)"};
}

std::vector<std::string> words()
{
    return {"problem", "shape", "instance", "projection", "[[R], [P, Wstride]]", "&a",   "*a",   "<<", "- ",
            "{",       "}",     "[",        "]",          "read_write",          "true", "8192", "|",  ">",
            "---"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        Json layer = timeloop_layer({reinterpret_cast<const char*>(data), size}, "problem.yaml");
        layer["name"] = "problem";
        fuzz::taken_or_refused([&] { layer_from_json(layer, "problem.yaml", "", ""); });
    });
}

const Target target("problem", seeds, words, input);

}  // namespace fuzz_problem
}  // namespace dlasim
