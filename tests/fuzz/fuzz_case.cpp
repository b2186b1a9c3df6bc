// Measured cases: register programs with their memory. What is taken is described, with the operations that its registers show.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/files/json_text.h"
#include "fuzz.h"
#include "replay/recording.h"
#include "report/program_description.h"

namespace dlasim {
namespace fuzz_case {

using namespace fuzz;

std::string contents(const std::string& name)
{
    std::ifstream in(std::filesystem::path(DLASIM_TEST_DATA) / "rtl" / (name + ".json"));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::string> seeds()
{
    return {contents("nv_small/dc_int8_min"),
            contents("nv_small/pdp_fly_conv3"),
            contents("nv_small/sdp_sa_min"),
            contents("nv_full/pdp_one"),
            contents("nv_full/rubik_t8_merge"),
            contents("nv_full/bdma_a1"),
            R"({"id": "a", "config": "nv_small", "memory": {"read_latency": 32, "beat_interval": 1, "write_latency": 8}, "layers": [],
               "program": [["CDMA.S_POINTER", 1], ["CDMA.D_OP_ENABLE", 1], ["MARK", "t0"], ["READ", "CSC.S_POINTER"], ["WAIT_INTR", "SDP_0"]],
               "memory_fill": [{"addr": "80000000", "bytes": 64, "seed": 7}, {"addr": "0", "bytes": 4, "hex": "00112233"}],
               "finished": true, "expected": {"output": [{"addr": "80001000", "bytes": 32, "crc32": "01234567"}]}})",
            R"({"config": "mine", "hardware": {"preset": "nv_large", "cbuf": {"banks": 16}}, "memory": {"command_interval": 2},
               "program": [["SDP.D_DATA_CUBE_WIDTH", 7], ["GLB.S_INTR_MASK", 0], ["MARK", "t0"]]})"};
}

std::vector<std::string> words()
{
    return {"MARK", "t0",    "READ", "WAIT_INTR", "SDP_0", "CDMA.D_OP_ENABLE", "CACC.S_STATUS", "nv_full", "nv_large", "ffffffffffffffff",
            "addr", "bytes", "hex",  "seed"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        const MeasuredCase read = parse_measured_case({reinterpret_cast<const char*>(data), size}, "case.json", std::nullopt);
        std::uint64_t bytes = 0;
        for (const MemoryImage& image : read.recording.images) bytes += image.bytes.size();
        for (const OutputRegion& region : read.recording.outputs) bytes += region.bytes;
        fuzz::expect(bytes <= std::uint64_t{2} << 30, "a case takes two GiB at most");
        fuzz::expect(!read.recording.program.empty(), "a case has a program");
        fuzz::expect(!recording_description(read).empty(), "a case is described");
    });
}

const Target target("case", seeds, words, input);

}  // namespace fuzz_case
}  // namespace dlasim
