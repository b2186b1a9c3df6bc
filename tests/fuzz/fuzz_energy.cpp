// Tables of energies and areas: read, and the figures of a run taken from them.
#include <cmath>

#include "facts/presets.h"
#include "files/json_text.h"
#include "fuzz.h"
#include "sweep/energy.h"

namespace dlasim {

std::vector<std::string> fuzz::seeds()
{
    return {repository_file("configs/energy/45nm.json"), R"({"table": "45nm", "sram_bit_um2": {"value": 0.12, "source": "a library"}})",
            R"({"table": {"table": "45nm", "dram_pj": {"value": 0, "source": "none"}}, "sram_cells_share": {"value": 1, "source": "x"}})"};
}

std::vector<std::string> fuzz::words()
{
    return {"45nm", "table", "value", "source", "dram_pj", "sram_32kib_pj", "1e300", "-0.0", "1e-300"};
}

}  // namespace dlasim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace dlasim;
    return fuzz::taken_or_refused([&] {
        const Json json = parse_json({reinterpret_cast<const char*>(data), size}, "energy.json");
        if (!json.is_object()) throw ConfigError("energy.json", "is no object: a text names a file");
        const EnergyTable table = read_energy(json, "energy.json", "");
        for (const Hardware& hardware : presets()) {
            const EnergyParts energy = energy_of(table, hardware, {Precision::Int8, 1'000'000, 4096, 4096, 4096, 1.0});
            const AreaParts area = area_of(table, hardware);
            fuzz::expect(std::isfinite(energy.all()) && energy.all() >= 0, "an energy is a number");
            fuzz::expect(std::isfinite(area.all()) && area.all() >= 0, "an area is a number");
        }
    });
}
