#include "silicon/energy.h"

#include "silicon/area.h"
#include "silicon/elements.h"

namespace dlasim::silicon {
namespace {

// A FIFO of a port: small against CBUF.
constexpr double kFifoBytes = 4096;

/// The energies of events by unit, in pJ of the literature.
class Events {
public:
    Events(const Technology& t, const Hardware& hw, const Activity& a) : t_(t), hw_(hw), a_(a) {}

    double of(const UnitElements& elements) const
    {
        const std::string& unit = elements.unit;
        if (unit == "cmac_a" || unit == "cmac_b") return a_.count(unit, "products") * (multiply() + add());
        if (unit == "cbuf") return buffer();
        if (unit == "cacc") return sums();
        if (unit == "sdp") return points();
        if (unit == "pdp") return a_.count(unit, "beats") * hw_.pdp.throughput * 2 * t_.add_int32_pj;
        if (unit == "cdp") return a_.count(unit, "beats") * hw_.cdp.throughput * (15 * t_.multiply_int8_pj + t_.add_int32_pj);
        if (unit == "cvsram")
            return (a_.count("cvif", "read_beats") + a_.count("cvif", "write_beats")) * hw_.memory.secondary.width_bytes / 8 *
                   t_.memory_pj(hw_.memory.secondary_bytes);
        double words = 0;
        for (const FifoWords& moved : elements.moved) words += a_.count(unit, moved.counter) * moved.words;
        return words * t_.memory_pj(kFifoBytes);
    }

private:
    bool fp() const { return a_.precision == Precision::Fp16; }
    double add() const { return fp() ? t_.add_fp32_pj : t_.add_int32_pj; }
    double multiply() const
    {
        return fp() ? t_.multiply_fp16_pj : a_.precision == Precision::Int8 ? t_.multiply_int8_pj : t_.multiply_int16_pj;
    }
    double buffer() const
    {
        const double read = (a_.count("csc", "data_reads") + a_.count("csc", "weight_reads")) * hw_.cbuf.entry_bytes;
        const double written = (a_.count("cdma", "data_atoms_read") + a_.count("cdma", "weight_atoms_read")) * hw_.memory.atom_bytes;
        return (read + written) / 8 * t_.memory_pj(cbuf_column_bytes(hw_));
    }
    /// A sum of 34 bits is read, added to and written; a result of 32 bits is written and read.
    double sums() const
    {
        const double lanes = hw_.kernel_group(a_.precision), word = t_.memory_pj(cacc_column_bytes(hw_)) / 64;
        return a_.count("cacc", "atoms") * lanes * (add() + 2 * 34 * word) +
               a_.count("cacc", "beats") * hw_.sdp.max_throughput() * 2 * 32 * word;
    }
    /// Two products of 32 x 16 bits, eight of 8 x 8 each, and two sums.
    double points() const { return a_.count("sdp", "beats") * hw_.sdp.max_throughput() * 2 * (8 * t_.multiply_int8_pj + t_.add_int32_pj); }

    const Technology& t_;
    const Hardware& hw_;
    const Activity& a_;
};

/// A convolution with everything downstream up to PDP, all at once: fetched as features, not converted.
Activity full(const Hardware& hw)
{
    Activity a;
    a.cycles = 1;
    const double macs = static_cast<double>(hw.macs_per_cycle(Precision::Int8));
    const double beat = hw.memory.primary.width_bytes, atom = hw.memory.atom_bytes;
    a.counters["cmac_a"]["products"] = a.counters["cmac_b"]["products"] = macs / 2;
    a.counters["csc"] = {{"data_reads", 1}, {"weight_reads", 0.5}};
    a.counters["cdma"]["data_atoms_read"] = beat / atom;
    a.counters["cacc"] = {{"atoms", 1}, {"beats", 0.5}};
    a.counters["sdp"]["beats"] = a.counters["pdp"]["beats"] = 1;
    a.counters["mcif"] = {{"read_beats", 1}, {"write_beats", 0.5}};
    for (const UnitElements& unit : elements_of(hw))
        for (const ClockedRegisters& clocked : unit.registers) a.clock_on[unit.unit][clocked.domain] = unit.apart ? 0 : 1;
    for (const char* domain : {"image", "winograd", "converter_cells"}) a.clock_on["cdma"].erase(domain);
    a.clock_on["csc"].erase("winograd");
    a.clock_on["pdp"].erase("rdma");
    return a;
}

double counted(const std::map<std::string, std::map<std::string, double>>& values, const std::string& unit, const std::string& name)
{
    const auto there = values.find(unit);
    if (there == values.end()) return 0;
    const auto value = there->second.find(name);
    return value == there->second.end() ? 0 : value->second;
}

}  // namespace

double Activity::count(const std::string& unit, const std::string& counter) const { return counted(counters, unit, counter); }
double Activity::on(const std::string& unit, const std::string& domain) const
{
    return domain.empty() ? cycles : counted(clock_on, unit, domain);
}

std::vector<UnitEnergy> energy_of(const Technology& technology, const Hardware& hardware, const Activity& activity)
{
    const Events events(technology, hardware, activity);
    const double volts = technology.voltage(hardware.clock_mhz), squared = volts * volts;
    const double leaked = volts * technology.leakage_mw_per_mm2 * 1e-6 * activity.cycles * 1e3 / hardware.clock_mhz;  // pJ of a um2
    const std::vector<UnitArea> areas = area_of(technology, hardware);
    const std::vector<UnitElements> elements = elements_of(hardware);
    std::vector<UnitEnergy> units;
    for (std::size_t i = 0; i < areas.size(); ++i) {
        UnitEnergy& unit = units.emplace_back();
        unit.unit = areas[i].unit;
        unit.leakage_pj = areas[i].um2 * leaked;
        if (i == elements.size()) {
            unit.clock_pj = squared * technology.control_pj * activity.cycles;
            continue;
        }
        unit.events_pj = squared * technology.event_share * events.of(elements[i]);
        for (const ClockedRegisters& clocked : elements[i].registers)
            unit.clock_pj += squared * 1e-3 * technology.register_fj * clocked.bits * activity.on(unit.unit, clocked.domain);
    }
    return units;
}

double chip_pj(const std::vector<UnitEnergy>& units)
{
    double sum = 0;
    for (const UnitEnergy& unit : units) sum += unit.all_pj();
    return sum;
}

double least_pj(const Technology& technology, const Hardware& hardware, const Least& least)
{
    Activity a;
    a.cycles = static_cast<double>(least.cycles);
    a.counters["cmac_a"]["products"] = static_cast<double>(least.products);
    const auto operations = static_cast<double>(least.operations);
    a.counters["cacc"]["atoms"] = operations / (hardware.full() ? 2 : 1);  // of int8 as many kernels again
    for (const char* half : {"cmac_a", "cmac_b"}) a.clock_on[half]["op*"] = operations;
    for (const char* domain : {"op0", "op1", "op2"}) a.clock_on["csc"][domain] = a.clock_on["cacc"][domain] = operations;
    a.clock_on["cacc"]["cell0"] = operations;
    return chip_pj(energy_of(technology, hardware, a));
}

std::pair<double, double> full_mw(const Technology& technology, const Hardware& hardware)
{
    double moving = 0, still = 0;
    for (const UnitEnergy& unit : energy_of(technology, hardware, full(hardware))) {
        (unit.unit == "control" ? still : moving) += unit.events_pj + unit.clock_pj;
        still += unit.leakage_pj;
    }
    return {moving * hardware.clock_mhz * 1e-3, still * hardware.clock_mhz * 1e-3};
}

double peak_mw(const Technology& technology, const Hardware& hardware)
{
    const auto [moving, still] = full_mw(technology, hardware);
    return technology.peak_factor * moving + still;
}

}  // namespace dlasim::silicon
