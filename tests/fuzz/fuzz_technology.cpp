// Technologies: read, and the figures of a run taken from them.
#include <cmath>

#include "base/files/json_text.h"
#include "facts/presets.h"
#include "fuzz.h"
#include "silicon/area.h"
#include "silicon/energy.h"

namespace dlasim {
namespace fuzz_technology {

using namespace fuzz;

std::vector<std::string> seeds()
{
    return {repository_file("configs/technology/45nm.json"), R"({"table": "28nm", "sram_bit_um2": {"value": 0.12, "source": "a library"}})",
            R"({"table": {"table": "45nm", "dram_pj": {"value": 0, "source": "none"}}, "event_share": {"value": 1, "source": "x"}})"};
}

std::vector<std::string> words()
{
    return {"45nm", "table", "value", "source", "dram_pj", "sram_32kib_pj", "28nm", "1e300", "-0.0", "1e-300"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        const Json json = parse_json({reinterpret_cast<const char*>(data), size}, "technology.json");
        if (!json.is_object()) throw ConfigError("technology.json", "is no object: a text names a file");
        const silicon::Technology technology = silicon::read_technology(json, "technology.json", "");
        silicon::Activity activity;
        activity.cycles = 1e6;
        activity.counters["cmac_a"]["products"] = activity.counters["csc"]["data_reads"] = activity.counters["mcif"]["read_beats"] = 1e6;
        activity.clock_on["csc"]["op2"] = 1e6;
        for (const Hardware& hardware : presets()) {
            const double energy = chip_pj(energy_of(technology, hardware, activity)), area = area_mm2(technology, hardware);
            fuzz::expect(std::isfinite(energy) && energy >= 0, "an energy is a number");
            fuzz::expect(std::isfinite(area) && area >= 0, "an area is a number");
        }
    });
}

const Target target("technology", seeds, words, input);

}  // namespace fuzz_technology
}  // namespace dlasim
