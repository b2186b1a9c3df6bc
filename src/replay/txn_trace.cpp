// Public NVDLA traces in the older input.txn form: load_mem, write_reg, read_reg, wait, dump_mem; word
// addresses; data files of hexadecimal bytes below a few header lines.
#include <fmt/format.h>

#include "registers/tables.h"
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

}  // namespace

Recording read_txn_trace(const std::filesystem::path& file, const Hardware& hardware)
{
    LineReader in(file, kMaxText);
    Recording recording;
    recording.name = file.parent_path().filename().string();
    recording.compare_outputs = true;
    std::uint64_t total = 0, checked = 0;
    std::string text;
    std::size_t mark = 0;
    bool marked = false;  // by a note
    for (Line line{file.string(), 0}; in.next(text);) {
        line.number = in.number();
        if (const std::optional<trace::Note> note = trace::note_of(text, "#", line)) {
            marked = marked || (note->entry && std::holds_alternative<MarkT0>(*note->entry));
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
            const std::string name = name_of(hardware, reg());
            recording.program.push_back(RegisterWrite{name, reg(), word(2)});
            if (name == "CDMA.D_OP_ENABLE") mark = recording.program.size();
        } else if (words[0] == "read_reg") {
            expect(3);
            // The player of these traces reads until the value is there, wherever a read stands.
            recording.program.push_back(PollRegister{name_of(hardware, reg()), reg(), word(2), word(3)});
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
    if (mark != 0 && !marked) recording.program.insert(recording.program.begin() + static_cast<std::ptrdiff_t>(mark), MarkT0{});
    return recording;
}

}  // namespace dlasim
