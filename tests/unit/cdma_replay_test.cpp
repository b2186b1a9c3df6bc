// CDMA against measured cases: the fabric and CSC are played as recorded on the reference, and what
// CDMA requests, writes and announces is compared cycle by cycle.
//
// Recordings in tests/data/cdma: the expected waveforms are measured; of the stimuli, the response and
// ready waveforms of the fabric are reconstructed from the measured case.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cdma_bench.h"

namespace dlasim::test {
namespace cdma_replay_test {

std::vector<std::filesystem::path> recordings()
{
    const char* folder = std::getenv("DLASIM_CDMA_RECORDINGS");
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder ? folder : DLASIM_TEST_DATA "/cdma"))
        if (entry.path().extension() == ".json") all.push_back(entry.path());
    std::sort(all.begin(), all.end());
    return all;
}

class CdmaReplay : public testing::TestWithParam<std::filesystem::path> {};

void check(const std::filesystem::path& path, bool skip)
{
    std::ifstream file(path);
    const auto c = nlohmann::json::parse(file);
    const Hardware* hw = find_preset(c["config"].get<std::string>());
    ASSERT_NE(hw, nullptr);
    CdmaBench bench(*hw);
    play(bench, c, skip);
    const Cycle offset = c["offset"], end = c["end"].get<Cycle>() + offset;
    for (const auto& [name, expected] : c["probes"].items()) {
        if (name == "mcif2cdma_dat_rd_rsp_valid" || name == "mcif2cdma_wt_rd_rsp_valid") continue;
        const auto found = bench.probes.all().find(name);
        ASSERT_NE(found, bench.probes.all().end()) << name;
        if (name.ends_with("_ready")) {
            const std::uint64_t all = c["allr"];
            std::uint64_t active = 0;
            for (const Probe::Run& run : found->second->runs(0, end)) active += run.length;
            EXPECT_EQ(end - active, all - expected["active"].get<std::uint64_t>()) << name << " not ready";
            continue;
        }
        EXPECT_EQ(compare(*found->second, expected, offset, end), "") << name;
    }
}

TEST_P(CdmaReplay, RequestsWritesAndMessagesAreInTheirMeasuredCycles) { check(GetParam(), false); }
TEST_P(CdmaReplay, SkippingChangesNothing) { check(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Cases, CdmaReplay, testing::ValuesIn(recordings()), [](const auto& info) {
    std::string name = info.param.stem().string();
    for (char& ch : name)
        if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
    return name;
});

}  // namespace cdma_replay_test
}  // namespace dlasim::test
