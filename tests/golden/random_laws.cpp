// Runs a law on seeds from FIRST on: random_laws LAW ...; without arguments it lists the laws. Exits 1 if a law is broken, 2 if the
// arguments are wrong.
#include "random_laws.h"

#include <cstdio>
#include <string_view>

namespace dlasim {
namespace random_laws {

struct Law {
    std::string_view name;
    const char* arguments;
    int fewest;
    int (*run)(int argc, char** argv);
};

constexpr Law kLaws[] = {
    {"fused", "FIRST COUNT", 2, random_fused},
    {"layers", "KIND FIRST COUNT [stepping|causes]", 3, random_layers},
    {"mixes", "FIRST COUNT", 2, random_mixes},
    {"plans", "FIRST COUNT [SECONDS]", 2, random_plans},
    {"points", "machines|dram FIRST COUNT", 3, random_points},
    {"sequences", "FIRST COUNT [causes]", 2, random_sequences},
    {"transfers", "bdma|rubik|lrn_int8|lrn_int16|lrn_fp16 FIRST COUNT [stepping]", 3, random_transfers},
    {"values", "layers|networks FIRST COUNT", 3, random_values},
};

}  // namespace random_laws
}  // namespace dlasim

extern "C" int sc_main(int, char*[]) { return 0; }  // SystemC's library wants one

int main(int argc, char** argv)
{
    using namespace dlasim::random_laws;
    for (const Law& law : kLaws)
        if (argc > 1 + law.fewest && law.name == argv[1]) return law.run(argc - 1, argv + 1);
    for (const Law& law : kLaws) std::fprintf(stderr, "usage: random_laws %s %s\n", law.name.data(), law.arguments);
    return 2;
}
