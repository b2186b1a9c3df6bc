// `dlasim dram`: a DRAM by itself, without the accelerator. Runs a request stream, prints the
// statistics, writes the command log and the timeline; decodes addresses; prints presets.
//
//   dlasim dram --preset ddr4-2400 --pattern sequential --cycles 100000 --check-dram
//   dlasim dram --preset hbm2 --set mapping=bank_interleave --decode 0x80001040
#pragma once
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dlasim::dram {

struct DramCommand {
    std::string preset = "ddr4-2400", pattern = "sequential";
    std::vector<std::string> settings;  // PATH=VALUE
    std::vector<std::string> decode;    // addresses
    std::uint64_t cycles = 100'000, stride = 0, interval = 0;
    bool check = false, json = false, list = false, describe = false, figures = false;
    std::string log, timeline, out;  // files
};

void add_options(CLI::App& app, DramCommand& command);
/// Exit status: 0, or 1 when the checker found a violation. Throws ConfigError.
int run_command(const DramCommand& command, std::ostream& out);

}  // namespace dlasim::dram
