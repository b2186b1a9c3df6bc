#include "app/commands/silicon_command.h"

#include <fmt/format.h>

#include "base/files/console.h"
#include "base/files/input.h"
#include "config/machine/hardware.h"
#include "silicon/silicon_keys.h"

namespace dlasim {
namespace {

void say_machine(const OrderedJson& machine)
{
    const double all = machine["area_mm2"].get<double>();
    say("{:.3f} mm2 in {}, {:.0f} mW with all units at once\n\n", all, printable(machine["technology"].get<std::string>()),
        machine["peak_mw"].get<double>());
    say("{:<10}{:>10}{:>8}{:>12}{:>16}{:>14}\n", "unit", "mm2", "share", "gates", "register bits", "memory bits");
    for (const auto& [unit, e] : machine["units"].items()) {
        const double mm2 = e["area_mm2"].get<double>();
        const auto number = [&unit_json = e](const char* key) { return unit_json.contains(key) ? unit_json[key].get<double>() : 0.0; };
        say("{:<10}{:>10.4f}{:>7.1f}%{:>12.0f}{:>16.0f}{:>14.0f}\n", unit, mm2, 100 * mm2 / all, number("gates"), number("clocked_bits"),
            number("ram_bits") + number("sram_bits"));
    }
}

void say_run(const OrderedJson& result)
{
    const double all = result["energy_uj"].get<double>();
    say("{:.3f} mm2 in {}, {:.4g} uJ, {:.4g} mW; memory {:.4g} uJ, {:.4g} mW\n\n", result["area_mm2"].get<double>(),
        printable(result["energy"]["technology"].get<std::string>()), all, result["power_mw"].get<double>(),
        result["memory_uj"].get<double>(), result["memory_mw"].get<double>());
    say("{:<10}{:>12}{:>8}{:>12}{:>12}{:>12}\n", "unit", "uJ", "share", "events", "clock", "leakage");
    for (const auto& [unit, e] : result["energy"]["units"].items()) {
        const double uj = e["energy_uj"].get<double>();
        say("{:<10}{:>12.4g}{:>7.1f}%{:>12.4g}{:>12.4g}{:>12.4g}\n", unit, uj, 100 * uj / all, e["events_uj"].get<double>(),
            e["clock_uj"].get<double>(), e["leakage_uj"].get<double>());
    }
}

}  // namespace

int silicon_command(const SiliconOptions& options)
{
    const silicon::Technology technology = silicon::read_technology(options.technology, "--technology", "");
    if (options.of.empty()) {
        const Hardware hardware = load_hardware(options.hardware, options.settings, HardwareRules::Warned);
        const OrderedJson machine = machine_json(technology, hardware);
        if (options.json) say("{}\n", machine.dump(2));
        else say_machine(machine);
        return 0;
    }
    OrderedJson result(read_json(options.of));
    silicon::add_silicon(result, technology);
    if (result["energy_uj"].is_null())
        throw ConfigError(options.of, "has no hardware with units that ran at a known precision, expected the result.json of a run");
    if (options.json) {
        OrderedJson of;
        for (const char* key : {"area_mm2", "energy_uj", "power_mw", "memory_uj", "memory_mw", "total_uj", "energy"}) of[key] = result[key];
        say("{}\n", of.dump(2));
    } else say_run(result);
    return 0;
}

}  // namespace dlasim
