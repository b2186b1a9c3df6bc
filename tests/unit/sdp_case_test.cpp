// Measured cases in which SDP takes beats of CACC and writes through a port that is always ready:
// the measured beats are played to SDP alone, the write requests and its ready are compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sdp_bench.h"
#include "sdp_program.h"

namespace dlasim {
namespace sdp_case_test {

/// Empty, or what differs.
std::string compare(const json& test, bool stepping)
{
    const Hardware* hw = find_preset(test["config"].get<std::string>());
    SdpBench bench(*hw);
    const SdpProgram program = read_program(*hw, test);
    const Cycle t0 = program.t0;
    bench.writes = program.writes;
    bench.layer_beats = program.layer_beats;
    const json& probes = test["expected"]["probes"];
    Cycle end = 0;
    for (const auto& [name, probe] : probes.items())
        if (name.ends_with("_ready")) end = std::max(end, probe["active"].get<Cycle>());
    for (const json& run : probes["cacc2sdp_valid"]["runs"]) bench.beats.push_back({t0 + run[0].get<Cycle>(), run[1].get<Cycle>()});
    const SdpTrace trace = bench.run(t0 + end + 1, stepping, t0 + 1);
    const auto& want = probes["sdp2mcif_wr_req_valid"];
    std::size_t i = 0;
    for (const json& run : want["runs"]) {
        const std::pair<Cycle, Cycle> expected{t0 + run[0].get<Cycle>(), run[1].get<Cycle>()};
        if (i >= trace.write_valid.size()) return "write requests end before " + run.dump();
        if (trace.write_valid[i] != expected)
            return "write request " + std::to_string(trace.write_valid[i].first - t0) + "+" + std::to_string(trace.write_valid[i].second) +
                   " instead of " + run.dump();
        ++i;
    }
    if (want["runs"].size() < 400 && trace.write_valid.size() != i) return "more write requests than measured";
    const Cycle ready = probes["cacc2sdp_ready"]["active"];
    if (trace.cacc_ready_active != ready)
        return "ready in " + std::to_string(trace.cacc_ready_active) + " cycles instead of " + std::to_string(ready);
    return {};
}

/// SDP flies, without operands from memory, and nothing stalls its writes.
bool plays(const json& test)
{
    const json& probes = test["expected"]["probes"];
    for (const char* name : {"cacc2sdp_valid", "cacc2sdp_ready", "sdp2mcif_wr_req_valid", "sdp2mcif_wr_req_ready"})
        if (!probes.contains(name)) return false;  // nobody watched SDP
    if (!probes["cacc2sdp_valid"].contains("runs") || probes["cacc2sdp_valid"]["runs"].size() >= 400 ||
        probes["cacc2sdp_valid"]["active"] == 0)
        return false;
    for (const json& entry : test["program"]) {
        if (entry[0] == "SDP_RDMA.D_OP_ENABLE") return false;
        if (entry[0] == "SDP.D_DST_DMA_CFG" && entry[1] == 0) return false;
        if (entry[0] == "PDP.D_OP_ENABLE") return false;  // SDP may hand its results to PDP, or share the fabric with it
    }
    Cycle end = 0;
    for (const auto& [name, probe] : probes.items())
        if (name.ends_with("_ready")) end = std::max(end, probe["active"].get<Cycle>());
    return probes["sdp2mcif_wr_req_ready"]["active"] == end;
}

struct Tally {
    unsigned played = 0, equal = 0;
    std::string differences;
};

Tally play_all(const std::filesystem::path& folder)
{
    Tally tally;
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(folder)) files.push_back(file.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        const json test = json::parse(std::ifstream(file));
        if (!test.contains("expected") || !test.value("finished", true) || test.contains("hardware") || !plays(test)) continue;
        ++tally.played;
        const std::string difference = compare(test, false);
        if (difference.empty()) ++tally.equal;
        else tally.differences += file.stem().string() + ": " + difference + "\n";
    }
    return tally;
}

class SdpMeasuredCases : public testing::TestWithParam<const char*> {};

TEST_P(SdpMeasuredCases, AreEqualCycleByCycle)
{
    const std::filesystem::path folder = measured_cases(GetParam());
    const Tally tally = play_all(folder);
    EXPECT_GT(tally.played, 9u);
    EXPECT_EQ(tally.equal, tally.played) << tally.differences;
    RecordProperty("played", static_cast<int>(tally.played));
}

INSTANTIATE_TEST_SUITE_P(Presets, SdpMeasuredCases, testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_small_256", "nv_small"));

}  // namespace sdp_case_test
}  // namespace dlasim
