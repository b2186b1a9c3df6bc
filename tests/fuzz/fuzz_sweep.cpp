// Sweeps: read, expanded, and the first, the middle and the last point planned.
#include "base/files/json_text.h"
#include "config/sweep/sweep.h"
#include "fuzz.h"
#include "lowering/plan.h"
#include "lowering/transfer/transfer_plan.h"

namespace dlasim {
namespace fuzz_sweep {

using namespace fuzz;

std::vector<std::string> seeds()
{
    return {R"({"base": {"layer": {"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10}},
                "hw": "nv_large", "memory": "ideal"},
               "axes": {"mac.atomic_c": [32, 64], "cbuf.banks": [2, 4, 16], "kernel.count": [8, 16], "latency": [32, 200]},
               "exclude": [{"mac.atomic_c": 32, "cbuf.banks": 2}]})",
            R"x({"base": {"layer": {"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10}},
                "hw": "nv_large"},
               "axes": {"mac.atomic_c": [32, 64], "mac.atomic_k": "= max(8, mac.atomic_c / 2)", "cbuf.banks": [2, 4, 16]},
               "exclude": ["cbuf.banks * cbuf.bank_depth > 4096 && !(input.width % 2 == 0)", "kernel.count - 1 < -cbuf.banks || 'a' == 'b'"]})x",
            R"({"base": {"layer": {"op": "bdma", "blocks": [{"source": 4096, "destination": 65536, "line_bytes": 64, "lines": 2}]}},
               "axes": {"blocks.0.lines": [5, 9], "latency": [10, 100], "blocks.0.source.memory": ["dbb", "cvsram"]}})",
            R"({"base": {"layer": {"op": "rubik", "rubik": {"mode": "split"}, "input": {"width": 4, "height": 1, "channels": 2}},
                "hw": {"preset": "nv_full", "cbuf": {"banks": 16}}, "memory": "ddr4-2400"},
               "axes": {"rubik.mode": ["split", "merge"], "hw": ["nv_full", "nv_small"], "channels": [1, 2]}})"};
}

std::vector<std::string> words()
{
    return {"hw",        "memory",    "layer",           "latency",  "interval",     "kernel.count", "input.width",          "cbuf.banks",
            "data.seed", "post.bias", "ideal:latency=3", "nv_small", "= cbuf.banks", "network",      "mac.atomic_c > 8 && 1"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        const Sweep sweep = parse_sweep({reinterpret_cast<const char*>(data), size}, "sweep.json");
        if (sweep.points.empty()) throw ConfigError("sweep.json", "has no points");
        for (const std::size_t index : {std::size_t{0}, sweep.points.size() / 2, sweep.points.size() - 1})
            fuzz::taken_or_refused([&] {
                const SweepPoint point = sweep_point(sweep, index);
                const Descriptor* descriptor = std::get_if<Descriptor>(&point.work);
                if (!descriptor) return;
                if (const Transfer* transfer = std::get_if<Transfer>(descriptor)) plan_transfer(*transfer, point.hardware);
                else plan_shape(std::get<Layer>(*descriptor), point.hardware);
            });
        for (const SweepAxis& axis : sweep.axes)
            for (const Json& value : axis.values)
                fuzz::expect(cell_text(value).find_first_of("\r\n") == std::string::npos, "a cell stands on one line");
    });
}

const Target target("sweep", seeds, words, input);

}  // namespace fuzz_sweep
}  // namespace dlasim
