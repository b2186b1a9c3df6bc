// The convolution core on its own against measured cases: every run of every probe of CSC, CMAC and
// CACC, with the updates of CDMA and the ready of SDP as measured.
#include <gtest/gtest.h>

#include <filesystem>

#include "csc_bench.h"

namespace dlasim::test {
namespace csc_replay_test {

namespace fs = std::filesystem;

/// Convolves, and nothing of it came before the recording: what CDMA told CSC before t0 is not known.
bool is_convolution(const json& test_case)
{
    if (!test_case.at("expected").at("probes").contains("cdma2sc_dat_updt") || !test_case.value("finished", true)) return false;
    for (const json& entry : test_case.at("program"))
        if (entry.size() > 1 && entry.at(1).is_object()) return false;  // a poll: how often it reads depends on the machine
    int enabled = 0;
    for (const json& entry : test_case.at("program")) {
        if (entry.at(0) == "MARK") return enabled == 1;
        if (entry.at(0) == "CDMA.D_OP_ENABLE") ++enabled;
    }
    return false;
}

struct Outcome {
    int cases = 0, equal = 0, unknown = 0;
    std::string differences;
};

Outcome replay(const fs::path& directory, bool values)
{
    Outcome outcome;
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(directory))
        if (file.path().extension() == ".json") files.push_back(file.path());
    std::sort(files.begin(), files.end());
    const char* only = std::getenv("DLASIM_CASE");
    for (const fs::path& file : files) {
        if (only && file.string().find(only) == std::string::npos) continue;
        const json test_case = read_json(file.string());
        if (!is_convolution(test_case)) continue;
        if (!knows_ready(test_case)) {
            ++outcome.unknown;
            continue;
        }
        const Hardware* hw = find_preset(test_case.at("config").get<std::string>());
        if (!hw || test_case.contains("hardware")) continue;
        auto bench = std::make_unique<ConvolutionBench>(*hw, values);
        bench->load(test_case);
        bench->run(length_of(test_case, bench->program.t0), false);
        const std::string found = differences(*bench, test_case);
        ++outcome.cases;
        outcome.equal += found.empty();
        if (!found.empty()) outcome.differences += file.stem().string() + "\n" + found;
    }
    return outcome;
}

class MeasuredConvolution : public testing::TestWithParam<const char*> {};

TEST_P(MeasuredConvolution, EveryRunOfEveryProbeIsInItsCycle)
{
    const Outcome outcome = replay(fs::path(DLASIM_TEST_DATA) / "rtl" / GetParam(), false);
    std::printf("%s: %d of %d cases equal, %d without SDP's ready\n", GetParam(), outcome.equal, outcome.cases, outcome.unknown);
    EXPECT_EQ(outcome.equal, outcome.cases) << outcome.differences;
    EXPECT_GT(outcome.cases, 0);
}

INSTANTIATE_TEST_SUITE_P(Configurations, MeasuredConvolution,
                         testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_small_256", "nv_small"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace csc_replay_test
}  // namespace dlasim::test
