// Files of the NVDLA compiler: each is checked for NVIDIA's software; what is taken is planned for its machine, in every mode that can
// run it.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "facts/presets.h"
#include "fuzz.h"
#include "loadable/nvidia/check.h"
#include "loadable/plan.h"

namespace dlasim {
namespace fuzz_loadable {

using namespace fuzz;

std::string contents(const std::string& name)
{
    std::ifstream in(std::filesystem::path(DLASIM_TEST_DATA) / "loadables" / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::string> seeds()
{
    return {contents("tiny_nv_small.nvdla"),
            contents("tiny_batch2_nv_large.nvdla"),
            contents("tiny_nv_full.nvdla"),
            contents("sigtanh_nv_full.nvdla"),
            contents("regression/BDMA_L0_0.nvdla"),
            contents("regression/PDP_L0_0_small.nvdla"),
            contents("regression/CDP_L0_0_large.nvdla")};
}

std::vector<std::string> words()
{
    return {"tb-0", "task-0-addr0", std::string(4, '\0'), "\xff\xff", std::string("\1\0\0\0", 4), "\xff\xff\xff\x7f"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        const std::string bytes{reinterpret_cast<const char*>(data), size};
        for (const char* machine : {"nv_small", "nv_large", "nv_full"})
            for (const loadable::Finding& finding : loadable::check_for_driver(bytes, "file.nvdla", *find_preset(machine)))
                fuzz::expect(!finding.place.empty() && !finding.problem.empty(), "a finding has its place and its problem");
        const loadable::Loadable file = loadable::parse_loadable(bytes, "file.nvdla");
        std::string refusals;
        for (const char* machine : {"nv_small", "nv_large", "nv_full"})
            for (const loadable::Mode mode : {loadable::Mode::Serial, loadable::Mode::Overlap, loadable::Mode::Driver}) {
                loadable::Options options;
                options.mode = mode;
                try {
                    const loadable::LoadablePlan plan = loadable::plan_loadable(file, *find_preset(machine), MemorySpec{}, options);
                    fuzz::expect(plan.program.size() >= plan.operations.size(), "every operation is enabled");
                    std::uint64_t filled = 0;
                    loadable::fill_memory(plan, [&](const Place&, std::span<const std::uint8_t> bytes) { filled += bytes.size(); });
                    fuzz::expect(filled <= 2 * loadable::kMaxBytes, "memory is bounded");
                    return;
                } catch (const ConfigError& error) {
                    refusals = error.what();
                }
            }
        throw ConfigError("no machine takes it", refusals);
    });
}

const Target target("loadable", seeds, words, input);

}  // namespace fuzz_loadable
}  // namespace dlasim
