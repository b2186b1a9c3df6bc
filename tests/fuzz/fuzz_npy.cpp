// NumPy files of three shapes and all types.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/npy.h"
#include "fuzz.h"

namespace dlasim {
namespace fuzz_npy {

using namespace fuzz;

std::vector<std::string> seeds()
{
    const std::string narrow = npy_bytes("|i1", {2, 3}, {1, 2, 3, 4, 5, 6}), wide = npy_bytes("<i2", {2, 3}, {1, -2, 300, 4, 5, 6});
    std::string second = narrow;  // version 2: four bytes of length
    second[6] = '\x02';
    second.insert(10, 2, '\0');
    return {narrow, wide, second, npy_bytes("<f2", {2, 3}, {0, 1, 2, 3, 4, 5})};
}

std::vector<std::string> words()
{
    return {"'descr'", "'shape'", "'fortran_order'", "True", "False", "|i1", "<i2", "<f2", "<f8", "(2, 3)", ","};
}

int input(const std::uint8_t* data, std::size_t size)
{
    static const std::string file = fuzz::scratch_folder() + "/dlasim_fuzz." + std::to_string(::getpid()) + ".npy";
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    const int result = fuzz::taken_or_refused([&] {
        fuzz::expect(read_npy(file, {"|i1", "<i2", "<f2"}, {2, 3}, "/data/input").size() == 6, "a tensor has its shape's values");
    });
    std::filesystem::remove(file);
    return result;
}

const Target target("npy", seeds, words, input);

}  // namespace fuzz_npy
}  // namespace dlasim
