#include "report/timeline/power_profile.h"

#include <algorithm>

namespace dlasim {
namespace {

constexpr std::string_view kOfTheMachine = "of the machine, from the previous interrupt to this one";
constexpr std::array kStepRows{
    KeyRow{"energy_uj", "number or null", "uJ", kOfTheMachine, "steps with an interrupt"},
    KeyRow{"power_mw", "number or null", "mW", "the same over that time", "steps with an interrupt"},
    KeyRow{"memory_uj", "number or null", "uJ", "of the memory at DBB, likewise", "steps with an interrupt"},
};
constexpr std::array kPowerRows{
    KeyRow{"power/window_cycles", "integer", "cycles", "length of a window", "--power-window"},
    KeyRow{"power/peak_mw", "number or null", "mW", "the largest power of a window, of the accelerator", "--power-window"},
    KeyRow{"power/peak_cycle", "integer or null", "cycle", "the first cycle of that window", "--power-window"},
    KeyRow{"power/windows_mw", "list", "mW", "of all windows, from t0 on; the last one may be shorter", "--power-window"},
    KeyRow{"power/windows_memory_mw", "list", "mW", "the same for the memory at DBB", "--power-window"},
};

silicon::Activity activity_of(Cycle cycles, const std::vector<UnitReport>& units)
{
    silicon::Activity activity;
    activity.cycles = static_cast<double>(cycles);
    for (const UnitReport& unit : units) {
        auto& counters = activity.counters[unit.name];
        for (const auto& [name, value] : unit.counters) counters[name] = static_cast<double>(value);
        auto& clocks = activity.clock_on[unit.name];
        for (const auto& [name, value] : unit.clock_on) clocks[name] = static_cast<double>(value);
    }
    return activity;
}

Cycle done_of(const OrderedJson& step)
{
    const auto done = step.find("done");
    return done != step.end() && done->is_number_integer() && done->get<std::int64_t>() > 0 ? done->get<Cycle>() : 0;
}

double milliwatts(double pj, Cycle cycles, const Hardware& hardware)
{
    return pj * hardware.clock_mhz / static_cast<double>(cycles) * 1e-3;
}

}  // namespace

PowerProfile::PowerProfile(const silicon::Technology& technology, const Hardware& hardware, Cycle window)
    : technology_(technology), hardware_(hardware), window_(window)
{
}

void PowerProfile::sample(Cycle cycle, const std::vector<UnitReport>& units, double dram_pj)
{
    if (cycle <= points_.back().cycle) points_.assign(1, Point{});  // t0 has been marked since
    silicon::Activity activity = activity_of(cycle, units);
    Point point{cycle, {}, dram_pj};
    for (std::size_t p = 0; p < kPrecisions; ++p) {
        activity.precision = static_cast<Precision>(p);
        point.chip_pj[p] = p == 0 || hardware_.full() ? chip_pj(energy_of(technology_, hardware_, activity)) : 0;
    }
    const double read = activity.count("mcif", "read_beats") * hardware_.memory.primary.width_bytes;
    const double written = activity.count("mcif", "write_beats") * hardware_.memory.primary.width_bytes;
    if (dram_pj == 0) point.memory_pj = (read + written) / 8 * technology_.dram_pj;
    else point.memory_pj += technology_.phy_pj(read, written, 1e3 * activity.cycles / hardware_.clock_mhz);
    points_.push_back(point);
}

const PowerProfile::Point* PowerProfile::at(Cycle cycle) const
{
    const auto there = std::lower_bound(points_.begin(), points_.end(), cycle, [](const Point& p, Cycle c) { return p.cycle < c; });
    return there != points_.end() && there->cycle == cycle ? &*there : nullptr;
}

std::pair<double, double> PowerProfile::picojoules(Cycle cycle, const silicon::MeasuredRun& run) const
{
    const Point* there = at(cycle);
    if (!there) return {};
    return {there->chip_pj[static_cast<std::size_t>(run.activity.precision)], there->memory_pj};
}

void PowerProfile::add_to_steps(OrderedJson& steps, std::size_t precision) const
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (done_of(steps[i]) != 0) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return done_of(steps[i]); });
    const Point* before = &points_.front();
    for (const std::size_t i : order) {
        const Point* now = at(done_of(steps[i]));
        const bool known = now && now->cycle > before->cycle;
        const double pj = known ? now->chip_pj[precision] - before->chip_pj[precision] : 0;
        steps[i]["energy_uj"] = known ? OrderedJson(1e-6 * pj) : OrderedJson();
        steps[i]["power_mw"] = known ? OrderedJson(milliwatts(pj, now->cycle - before->cycle, hardware_)) : OrderedJson();
        steps[i]["memory_uj"] = known ? OrderedJson(1e-6 * (now->memory_pj - before->memory_pj)) : OrderedJson();
        if (known) before = now;
    }
}

OrderedJson PowerProfile::windows(Cycle cycles, double all_pj, std::size_t precision) const
{
    OrderedJson chip = OrderedJson::array(), memory = OrderedJson::array(), peak_mw, peak_cycle;
    const Point* before = &points_.front();
    for (const Point& point : points_) {
        const bool last = point.cycle == cycles;
        if (point.cycle > cycles || point.cycle == before->cycle || (point.cycle % window_ != 0 && !last)) continue;
        const Cycle length = point.cycle - before->cycle;
        const double mw = milliwatts((last ? all_pj : point.chip_pj[precision]) - before->chip_pj[precision], length, hardware_);
        chip.push_back(mw);
        memory.push_back(milliwatts(point.memory_pj - before->memory_pj, length, hardware_));
        // What is shorter than a window is no window.
        if ((length == window_ || peak_mw.is_null()) && (peak_mw.is_null() || mw > peak_mw.get<double>())) {
            peak_mw = mw;
            peak_cycle = before->cycle;
        }
        before = &point;
    }
    return {
        {"window_cycles", window_}, {"peak_mw", peak_mw}, {"peak_cycle", peak_cycle}, {"windows_mw", chip}, {"windows_memory_mw", memory}};
}

void PowerProfile::add_to(OrderedJson& result, const silicon::MeasuredRun& run) const
{
    const auto precision = static_cast<std::size_t>(run.activity.precision);
    for (const char* list : {"steps", "operations"})
        if (result.contains(list) && result[list].is_array()) add_to_steps(result[list], precision);
    if (window_ != 0)
        result["power"] = windows(static_cast<Cycle>(run.activity.cycles), 1e6 * result["energy_uj"].get<double>() * run.images, precision);
}

std::vector<PlacedKey> step_energy_keys() { return placed(kStepRows, ""); }

std::vector<PlacedKey> power_keys() { return placed(kPowerRows, ""); }

}  // namespace dlasim
