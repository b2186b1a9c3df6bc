#include "silicon/activity.h"

#include <algorithm>
#include <cctype>

#include "base/files/json_text.h"
#include "config/machine/hardware.h"
#include "facts/optional_units.h"

namespace dlasim::silicon {
namespace {

std::map<std::string, double> numbers_of(const OrderedJson& json)
{
    std::map<std::string, double> numbers;
    if (json.is_object())
        for (const auto& [name, value] : json.items())
            if (value.is_number()) numbers[name] = value.get<double>();
    return numbers;
}

std::optional<Precision> precision_of(const OrderedJson& result)
{
    for (const OrderedJson& name :
         {value_at(result, "layer/precision"), value_at(result, "network/precision"), value_at(result, "precision")}) {
        if (name == "int16") return Precision::Int16;
        if (name == "fp16") return Precision::Fp16;
        if (name == "int8") return Precision::Int8;
    }
    return std::nullopt;
}

}  // namespace

std::optional<MeasuredRun> measured_run(const OrderedJson& result)
{
    const OrderedJson units = value_at(result, "units"), hardware = value_at(result, "hardware");
    if (!units.is_object() || units.empty() || !hardware.is_object()) return std::nullopt;
    MeasuredRun run;
    run.hardware = read_hardware(Json(hardware), "result.json", "/hardware", "", {}, HardwareRules::Ignored);
    run.images = std::max(1.0, number_at(result, "images/count"));
    const std::optional<Precision> precision = precision_of(result);
    run.activity.precision = precision.value_or(Precision::Int8);
    for (const auto& [name, report] : units.items()) {
        std::string unit = name;
        for (const facts::OptionalUnit& of : facts::kOptionalUnits)  // results of versions before 0.2 have the names of windows
            if (std::ranges::equal(name, of.window, {}, [](unsigned char c) { return std::toupper(c); })) unit = of.key;
        double cycles = 0;  // of the window: every cycle has one phase
        for (const char* phase : {"issuing", "starved", "blocked", "draining", "gated"}) cycles += number_at(report, phase);
        run.activity.cycles = std::max(run.activity.cycles, cycles);
        run.activity.counters[unit] = numbers_of(value_at(report, "counters"));
        run.activity.clock_on[unit] = numbers_of(value_at(report, "clock_on"));
    }
    // Networks name theirs where it is not int8; a recording names none.
    const bool multiplied = run.activity.count("cmac_a", "products") + run.activity.count("cmac_b", "products") > 0;
    run.precise = precision || !run.hardware.full() || result.contains("network") || !multiplied;
    run.read_bytes = run.activity.count("mcif", "read_beats") * run.hardware.memory.primary.width_bytes;
    run.written_bytes = run.activity.count("mcif", "write_beats") * run.hardware.memory.primary.width_bytes;
    const OrderedJson dram = value_at(result, "memory_report/dbb/energy/total_pj");
    if (dram.is_number()) run.dram_pj = dram.get<double>();
    return run;
}

}  // namespace dlasim::silicon
