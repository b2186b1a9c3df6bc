// Which machines can exist. Each rule is one line: what must hold, and where it comes from.
#include <bit>

#include "config/machine/hardware.h"
#include "facts/abilities.h"
#include "facts/fabric.h"
#include "facts/optional_units.h"
#include "facts/presets.h"

namespace dlasim {
namespace {

class Rules {
public:
    Rules(const Hardware& hw, const std::string& where) : hw_(hw), where_(where) {}

    /// `found` is what the values are now, `rule` what must hold.
    void expect(bool holds, const std::string& found, const std::string& rule) const
    {
        if (!holds) throw ConfigError(where_, "found " + found + ", expected " + rule);
    }
    void power_of_two(const char* path, std::uint32_t value, std::uint32_t low, std::uint32_t high) const
    {
        expect(std::has_single_bit(value) && value >= low && value <= high, is(path, value),
               "a power of two in " + std::to_string(low) + ".." + std::to_string(high));
    }
    static std::string is(const char* path, std::uint32_t value) { return std::string(path) + " = " + std::to_string(value); }
    static std::string is(const char* path, std::uint32_t value, const char* other, std::uint32_t second)
    {
        return is(path, value) + " and " + is(other, second);
    }

    void one_design() const;
    void scalable() const;
    void both() const;

private:
    void credits() const;
    void credit(Client client, std::uint32_t most, const std::string& why) const;
    std::uint32_t credit_of(Client client) const { return hw_.fabric.read_credit[static_cast<std::size_t>(client)]; }
    void fixed(const char* path, std::uint32_t value, std::uint32_t silicon) const
    {
        expect(value == silicon, is(path, value),
               std::to_string(silicon) +
                   ": nv_full's data path is built for it; "
                   "the configurable presets can be changed");
    }
    const Hardware& hw_;
    const std::string& where_;
};

void Rules::both() const
{
    const CbufHardware& cbuf = hw_.cbuf;
    expect(std::has_single_bit(cbuf.bank_depth), is("cbuf.bank_depth", cbuf.bank_depth),
           "a power of two: an entry address is a bank and a row");
    const std::uint32_t entries = cbuf.banks * cbuf.bank_depth, most = facts::abilities(hw_).most_buffer_entries;
    expect(entries <= most, is("cbuf.banks", cbuf.banks, "cbuf.bank_depth", cbuf.bank_depth),
           "at most " + std::to_string(most) + " entries in all: the width of an entry address");
    expect(!hw_.sdp.has_lut || hw_.sdp.has_ew, "sdp.has_lut without sdp.has_ew", "both: the tables are in the EW unit");
    for (const facts::OptionalUnit& unit : facts::kOptionalUnits)
        expect(hw_.memory.has_secondary || !(hw_.*unit.there), std::string(unit.key) + " without memory.has_secondary",
               "memory.has_secondary = true, or false: it has a port to either memory");
    expect(hw_.memory.has_secondary || hw_.memory.secondary_bytes == 0, is("memory.secondary.bytes", hw_.memory.secondary_bytes),
           "0: there is no secondary port");
    credits();
}

/// A client waits for ever for a chunk that needs more credits than it has, and takes responses only as far as its FIFO goes.
void Rules::credit(Client client, std::uint32_t most, const std::string& why) const
{
    const std::uint32_t least = facts::fabric::chunk_credits(hw_), value = credit_of(client);
    const std::string path = credit_path(client);
    expect(value >= least, is(path.c_str(), value),
           "at least " + std::to_string(least) + ": the response beats of the longest chunk of a request, which waits for all of them");
    expect(value <= most, is(path.c_str(), value), "at most " + std::to_string(most) + ": " + why);
}

// [spec] fabric.md 1.1 to 1.3: the two clients of CDMA return no credits, the others a credit for every beat that leaves their FIFO.
void Rules::credits() const
{
    for (const Client client : {Client::CdmaData, Client::CdmaWeight})
        expect(credit_of(client) == 0, is(credit_path(client).c_str(), credit_of(client)),
               "0, unlimited: CDMA returns no credits, so it would hang when they are used up");
    const std::uint32_t counter = facts::fabric::most_credits(hw_);
    const std::string bits = std::string("the credit counter has ") + (counter < 256 ? "eight" : "nine") + " bits";
    for (const facts::OptionalUnit& unit : facts::kOptionalUnits)
        if (hw_.*unit.there) credit(unit.client, unit.fifo_beats(hw_), "the FIFO of " + std::string(unit.name) + " holds no more");
    for (const Client client : {Client::Sdp, Client::Pdp, Client::Cdp, Client::SdpBs, Client::SdpBn}) credit(client, counter, bits);
    if (hw_.sdp.has_ew) credit(Client::SdpEw, counter, bits);
}

// [spec] cdma.md 0.1, csc.md 0, sdp.md 1.7.1: lanes, entry and beat are one design.
void Rules::one_design() const
{
    const std::uint32_t c = hw_.mac.atomic_c;
    power_of_two("mac.atomic_c", c, 32, 64);
    expect(hw_.cbuf.entry_bytes == 2 * c, is("cbuf.entry_bytes", hw_.cbuf.entry_bytes, "mac.atomic_c", c),
           "entry_bytes = 2 * atomic_c: an entry is read as one operand of words");
    expect(!hw_.winograd || c == kWinogradLanes, is("mac.atomic_c", c) + " and winograd = true",
           "winograd = false: a tile of four channels takes all 64 lanes");
    fixed("mac.atomic_k", hw_.mac.atomic_k, 16);
    fixed("memory.atom_bytes", hw_.memory.atom_bytes, 32);
    fixed("memory.primary.width_bytes", hw_.memory.primary.width_bytes, 64);
    fixed("memory.primary.burst_beats", hw_.memory.primary.burst_beats, 1);
    fixed("memory.secondary.width_bytes", hw_.memory.secondary.width_bytes, 64);
    fixed("memory.secondary.burst_beats", hw_.memory.secondary.burst_beats, 4);
    fixed("sdp.bs_throughput", hw_.sdp.bs_throughput, 16);
    fixed("sdp.bn_throughput", hw_.sdp.bn_throughput, 16);
    fixed("sdp.ew_throughput", hw_.sdp.ew_throughput, 4);
    fixed("cdp.throughput", hw_.cdp.throughput, 8);
    fixed("pdp.throughput", hw_.pdp.throughput, 8);
    expect(hw_.cbuf.banks <= 16, is("cbuf.banks", hw_.cbuf.banks), "2..16: the bank fields have four bits");
}

void Rules::scalable() const
{
    const std::uint32_t c = hw_.mac.atomic_c, k = hw_.mac.atomic_k, atom = hw_.memory.atom_bytes;
    power_of_two("mac.atomic_c", c, 8, 128);
    power_of_two("mac.atomic_k", k, 8, 64);
    expect(c % k == 0 && (c / k == 1 || c / k == 2 || c / k == 4), is("mac.atomic_c", c, "mac.atomic_k", k),
           "atomic_c / atomic_k of 1, 2 or 4: the accumulator's depth is built for these");
    expect(hw_.cbuf.entry_bytes == c, is("cbuf.entry_bytes", hw_.cbuf.entry_bytes, "mac.atomic_c", c),
           "entry_bytes = atomic_c: an entry is read as one operand");
    expect(atom == k, is("memory.atom_bytes", atom, "mac.atomic_k", k), "atom_bytes = atomic_k: a kernel group fills one output atom");
    expect(hw_.memory.primary.width_bytes == atom,
           is("memory.primary.width_bytes", hw_.memory.primary.width_bytes, "memory.atom_bytes", atom),
           "width_bytes = atom_bytes: a data beat is one atom");
    power_of_two("memory.primary.burst_beats", hw_.memory.primary.burst_beats, 1, 4);
    if (hw_.memory.has_secondary) {
        expect(hw_.memory.secondary.width_bytes == atom,
               is("memory.secondary.width_bytes", hw_.memory.secondary.width_bytes, "memory.atom_bytes", atom),
               "width_bytes = atom_bytes: a data beat is one atom");
        power_of_two("memory.secondary.burst_beats", hw_.memory.secondary.burst_beats, 1, 4);
    }
    const auto divides_k = [&](const char* path, std::uint32_t elements) {
        expect(std::has_single_bit(elements) && k % elements == 0, is(path, elements, "mac.atomic_k", k),
               "a power of two that divides atomic_k: beats of one atom");
    };
    divides_k("sdp.bs_throughput", hw_.sdp.bs_throughput);
    divides_k("sdp.bn_throughput", hw_.sdp.bn_throughput);
    if (hw_.sdp.has_ew) divides_k("sdp.ew_throughput", hw_.sdp.ew_throughput);
    power_of_two("cdp.throughput", hw_.cdp.throughput, 1, 8);
    expect(atom / hw_.cdp.throughput >= 4, is("cdp.throughput", hw_.cdp.throughput, "memory.atom_bytes", atom),
           "at least 4 beats an atom: the channel buffer is built for it");
    // [spec] pdp.md 4.4: the window units are read four cycles after they were written.
    const std::uint32_t pdp = hw_.pdp.throughput;
    expect(std::has_single_bit(pdp) && 4 * pdp <= atom, is("pdp.throughput", pdp, "memory.atom_bytes", atom),
           "a power of two and atom_bytes / throughput of 4 or more: an atom takes four cycles at least");
    expect(pdp <= hw_.sdp.max_throughput(), is("pdp.throughput", pdp, "the fastest stage of SDP", hw_.sdp.max_throughput()),
           "at most SDP's throughput: a beat of SDP is one or more of PDP");
    const auto absent = [&](std::string_view path, bool on) { expect(!on, std::string(path) + " = true", "false: only nv_full has it"); };
    absent("winograd", hw_.winograd);
    absent("batch", hw_.batch);
    absent("weight_compression", hw_.weight_compression);
    for (const facts::OptionalUnit& unit : facts::kOptionalUnits) absent(unit.key, hw_.*unit.there);
}

}  // namespace

void check_hardware(const Hardware& hardware, const std::string& where)
{
    const Rules rules(hardware, where);
    if (hardware.scalable()) rules.scalable();
    else rules.one_design();
    rules.both();
}

}  // namespace dlasim
