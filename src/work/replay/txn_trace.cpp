// Public NVDLA traces in the older input.txn form: load_mem, write_reg, read_reg, until, wait, dump_mem; word
// addresses; data files of hexadecimal bytes below a few header lines.
#include <fmt/format.h>

#include <bit>

#include "registers/tables.h"
#include "replay/first_launch.h"
#include "replay/notes.h"
#include "replay/recording.h"
#include "replay/text.h"

namespace dlasim {
namespace {

using trace::Line;

constexpr std::uint64_t kWordMask = 0xffff;  // upper half of a word address selects the bus

/// All lines that consist of 0x.. bytes only.
std::vector<std::uint8_t> read_bytes(LineReader in, std::uint64_t limit)
{
    std::vector<std::uint8_t> bytes;
    std::string text;
    for (Line line{in.path().string(), 0}; bytes.size() < limit && in.next(text);) {
        line.number = in.number();
        const auto tokens = trace::split(text, " \t");
        bool data = !tokens.empty();
        for (const auto token : tokens) data = data && token.starts_with("0x");
        if (!data) continue;
        for (const auto token : tokens) bytes.push_back(static_cast<std::uint8_t>(line.value(token, 0xff)));
    }
    if (bytes.size() > limit) bytes.resize(limit);
    return bytes;
}

std::string name_of(const Hardware& hardware, std::uint32_t address)
{
    for (const UnitRegisters& unit : register_units(hardware))
        if (address >= unit.base && address < unit.base + 0x1000)
            if (const RegisterRow* row = unit.find(address - unit.base)) return fmt::format("{}.{}", unit.name, row->name);
    return fmt::format("{:#x}", address);
}

/// `until` of gem5-NVDLA's traces: waits until the register has these bits, or reads 0 if there are none. Traces in which S_INTR_MASK masks
/// all of the bits of S_INTR_STATUS wait for the interrupt that it lets through.
ProgramEntry until(const std::string& name, std::uint32_t address, std::uint32_t bits, std::uint32_t intr_mask)
{
    if (name == "GLB.S_INTR_STATUS" && bits != 0 && (bits & ~intr_mask) == 0) return WaitPin{};
    return PollRegister{name, address, bits == 0 ? UINT32_MAX : bits, bits};
}

template <class Entry>
const Entry* as(const Program& program, std::size_t i, const char* name)
{
    const Entry* entry = i < program.size() ? std::get_if<Entry>(&program[i]) : nullptr;
    return entry && entry->name == name ? entry : nullptr;
}

bool settles(const Program& program, std::size_t i)
{
    const auto* poll = as<PollRegister>(program, i, "GLB.S_INTR_STATUS");
    return poll && poll->mask == 0;
}

/// The interrupts that the entries from `i` wait for, one after another, each with all the others masked, and the entry after them; 0 if
/// they do anything else, or leave another mask than the one before.
std::pair<std::uint32_t, std::size_t> masked_wait(const Program& program, std::size_t i, std::uint32_t mask)
{
    std::uint32_t bits = 0;
    while (const auto* masked = as<RegisterWrite>(program, i, "GLB.S_INTR_MASK")) {
        const std::uint32_t bit = ~masked->value & trace::kAllInterrupts;
        const bool restored = bits != 0 && masked->value == mask && settles(program, i + 1);
        if (restored) return {bits, i + 2};
        const auto* clear = as<RegisterWrite>(program, i + 3, "GLB.S_INTR_STATUS");
        if (!clear || clear->value != bit || !std::has_single_bit(bit)) return {};
        if (!settles(program, i + 1) || !std::holds_alternative<WaitPin>(program[i + 2])) return {};
        bits |= bit;
        i += 4;
    }
    return {};
}

/// The player of these traces sees only the pin, so that whoever waits for one interrupt masks the others meanwhile, as our own export
/// does. That is one wait, and takes the time of one.
Program with_masked_waits(const Program& program)
{
    Program joined;
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < program.size();) {
        if (const auto [bits, after] = masked_wait(program, i, mask); bits != 0) {
            joined.push_back(WaitStatus{bits});
            i = after;
            continue;
        }
        if (const auto* write = as<RegisterWrite>(program, i, "GLB.S_INTR_MASK")) mask = write->value;
        joined.push_back(program[i++]);
    }
    return joined;
}

}  // namespace

Recording read_txn_trace(const std::filesystem::path& file, const Hardware& hardware)
{
    LineReader in(file, kMaxText);
    Recording recording;
    recording.name = file.parent_path().filename().string();
    std::uint64_t total = 0, checked = 0;
    std::string text;
    MissingUnits units(hardware);
    std::uint32_t intr_mask = 0;
    for (Line line{file.string(), 0}; in.next(text);) {
        line.number = in.number();
        if (const std::optional<trace::Note> note = trace::note_of(text, "#", line)) {
            if (note->entry) recording.program.push_back(*note->entry);
            continue;
        }
        std::string_view rest = text;
        if (const std::size_t comment = rest.find('#'); comment != std::string_view::npos) rest = rest.substr(0, comment);
        const auto words = trace::split(rest, " \t");
        if (words.empty()) continue;
        const auto expect = [&](std::size_t count) {
            if (words.size() != count + 1) line.fail(fmt::format("{} takes {} arguments, found {}", words[0], count, words.size() - 1));
        };
        const auto reg = [&] { return static_cast<std::uint32_t>((line.value(words[1], 0xffffffff) & kWordMask) << 2); };
        const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(line.value(words[i], 0xffffffff)); };
        if (words[0] == "load_mem") {
            expect(3);
            const std::uint64_t bytes = line.value(words[2], trace::kMaxBytes);
            trace::add_bounded(total, bytes, line, "loads");
            const Address address{line.value(words[1], UINT64_MAX)};
            trace::expect_addressable(address, bytes, line);
            recording.images.push_back({trace::place_of(address, hardware), read_bytes(trace::open_beside(file, words[3], line), bytes)});
        } else if (words[0] == "write_reg") {
            if (words.size() < 3) line.fail("write_reg takes an address and a value");
            RegisterWrite write{name_of(hardware, reg()), reg(), word(2)};
            if (const std::string missing = units.of(write); !missing.empty()) line.fail(missing);
            if (write.name == "GLB.S_INTR_MASK") intr_mask = write.value;
            recording.program.push_back(std::move(write));
        } else if (words[0] == "read_reg") {
            expect(3);
            // The player of these traces repeats every read until it returns the value.
            recording.program.push_back(PollRegister{name_of(hardware, reg()), reg(), word(2), word(3)});
        } else if (words[0] == "until") {
            expect(2);
            recording.program.push_back(until(name_of(hardware, reg()), reg(), word(2), intr_mask));
        } else if (words[0] == "wait") {
            recording.program.push_back(WaitPin{});
        } else if (words[0] == "dump_mem") {
            expect(3);
            OutputRegion region = trace::checked_region(words[1], words[2], checked, line);
            region.place = trace::place_of(region.place.address, hardware);
            region.content = read_bytes(trace::open_beside(file, words[3], line), region.bytes);
            if (region.content.size() != region.bytes)
                line.fail(fmt::format("{} holds {} bytes, expected {}", words[3], region.content.size(), region.bytes));
            recording.outputs.push_back(std::move(region));
        } else {
            line.fail("unknown command " + std::string(words[0]));
        }
    }
    recording.program = with_masked_waits(recording.program);
    mark_first_launch(recording.program);
    return recording;
}

}  // namespace dlasim
