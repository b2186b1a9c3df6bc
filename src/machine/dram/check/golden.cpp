#include "dram/check/golden.h"

#include <fmt/format.h>

#include "dram/check/stream.h"
#include "dram/read/reader.h"

namespace dlasim::dram {

const std::vector<GoldenRow>& golden_rows()
{
    static const char* const ddr24 = "reference-ddr4-2400";
    static const char* const ddr32 = "reference-ddr4-3200";
    static const char* const lp4 = "reference-lpddr4-2400";
    static const char* const hbm = "reference-hbm2";
    static const char* const near = "rochrababgco";
    static const char* const spread = "rochrabacobg";
    static const char* const stack = "rorabgbachco";
    static const std::vector<GoldenRow> rows{
        {ddr24, near, "open", "sequential", 0, 19465, 0, 0.9914, 169, 160, 21, 243.66, 15.005},
        {ddr24, near, "open", "sequential_write", 0, 0, 19547, 0.9915, 168, 158, 21, 0, 15.109},
        {ddr24, near, "open", "random", 0, 22017, 0, 0.0007, 22148, 22123, 21, 532.59, 16.974},
        {ddr24, near, "open", "random_write", 0, 0, 23609, 0.0010, 23761, 23736, 21, 0, 18.333},
        {ddr24, near, "open", "mixed", 0, 11558, 5792, 0.9602, 694, 690, 21, 367.87, 13.381},
        {ddr24, near, "open", "strided", 4096, 23467, 0, 0.4986, 11903, 11871, 21, 472.58, 18.091},
        {ddr24, near, "open", "strided", 8192, 21569, 0, 0.0000, 21739, 21718, 21, 457.53, 16.628},
        {ddr24, near, "open", "strided", 262144, 1700, 0, 0.0000, 1704, 1703, 21, 2341.42, 1.311},
        {ddr24, spread, "open", "sequential", 0, 23814, 0, 0.9904, 234, 221, 21, 300.13, 18.359},
        {ddr24, spread, "open", "mixed", 0, 13995, 6976, 0.9080, 1948, 1932, 21, 411.46, 16.205},
        {ddr24, spread, "open", "random", 0, 21888, 0, 0.0007, 22042, 22012, 21, 527.86, 16.874},
        {ddr24, near, "closed_auto", "sequential", 0, 2437, 0, 0, 2442, 4, 21, 1769.66, 1.878},
        {ddr24, near, "closed_auto", "random", 0, 22810, 0, 0, 22947, 121, 21, 465.69, 17.585},
        {ddr32, near, "open", "sequential", 0, 16577, 0, 0.9916, 141, 139, 16, 284.51, 16.837},
        {ddr32, near, "open", "sequential_write", 0, 0, 16634, 0.9915, 142, 139, 16, 0, 16.946},
        {ddr32, near, "open", "random", 0, 20419, 0, 0.0007, 20468, 20455, 16, 534.33, 20.739},
        {ddr32, near, "open", "mixed", 0, 9760, 4896, 0.9607, 581, 576, 16, 433.01, 14.895},
        {ddr32, near, "open", "strided", 262144, 1290, 0, 0, 1291, 1291, 16, 3079.30, 1.310},
        {lp4, near, "open", "sequential", 0, 11857, 0, 0.9911, 106, 101, 23, 392.94, 18.279},
        {lp4, near, "open", "random", 0, 12346, 0, 0.0008, 12462, 12454, 23, 962.46, 19.041},
        {lp4, near, "open", "mixed", 0, 7392, 3688, 0.9597, 446, 446, 23, 573.15, 17.124},
        {hbm, stack, "open", "sequential", 0, 46071, 0, 0.9671, 1541, 1525, 25, 145.00, 29.480},
        {hbm, stack, "open", "sequential_write", 0, 0, 46039, 0.9671, 1540, 1524, 25, 0, 29.503},
        {hbm, stack, "open", "random", 0, 12302, 0, 0, 12339, 12330, 25, 771.41, 7.873},
        {hbm, stack, "open", "mixed", 0, 26274, 13121, 0.8900, 4350, 4334, 25, 211.99, 25.233},
        {hbm, stack, "open", "strided", 262144, 1939, 0, 0, 1948, 1948, 25, 2057.62, 1.241},
    };
    return rows;
}

GoldenResult run_golden(const GoldenRow& row)
{
    const Config config = read_config(row.device, {{"mapping", row.mapping}, {"page_policy", row.page_policy}});
    StreamRun run;
    run.cycles = 100'000;
    const Statistics s = run_stream(config, make_pattern(row.pattern, config, row.stride), run).front();
    GoldenResult result{};
    result.reads = s.commands[index(Command::Rd)] + s.commands[index(Command::Rda)];
    result.writes = s.commands[index(Command::Wr)] + s.commands[index(Command::Wra)];
    result.activations = s.commands[index(Command::Act)];
    result.precharges = s.commands[index(Command::Pre)];
    result.refreshes = s.commands[index(Command::RefAll)];
    result.hit_rate = static_cast<double>(s.later_columns) / static_cast<double>(result.reads + result.writes);
    result.latency = s.read_latency.mean();
    const auto bursts = static_cast<double>(s.reads_done + s.writes);
    result.gb_per_s = bursts * config.organisation.request_bytes() / (static_cast<double>(s.cycles) * config.tck_ns);
    return result;
}

std::string golden_table()
{
    std::string text =
        "| device, mapping, page policy | stream | RD | WR | ACT | PRE | REF | row hits | mean latency | GB/s |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n";
    const auto pair = [](auto published, auto ours) {
        return published == ours ? fmt::format("{}", ours) : fmt::format("{} ({})", ours, published);
    };
    const auto real = [](double published, double ours, int digits) {
        const std::string a = fmt::format("{:.{}f}", published, digits), b = fmt::format("{:.{}f}", ours, digits);
        return a == b ? b : fmt::format("{} ({})", b, a);
    };
    for (const GoldenRow& row : golden_rows()) {
        const GoldenResult r = run_golden(row);
        const std::string stream = row.stride ? fmt::format("stride {}", row.stride) : row.pattern;
        text += fmt::format("| {}, {}, {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.device, row.mapping, row.page_policy,
                            stream, pair(row.reads, r.reads), pair(row.writes, r.writes), pair(row.activations, r.activations),
                            pair(row.precharges, r.precharges), pair(row.refreshes, r.refreshes), real(row.hit_rate, r.hit_rate, 4),
                            row.latency == 0 ? "-" : real(row.latency, r.latency, 2), real(row.gb_per_s, r.gb_per_s, 3));
    }
    return text;
}

}  // namespace dlasim::dram
