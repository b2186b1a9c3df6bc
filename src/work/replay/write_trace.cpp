#include "replay/write_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/bits.h"
#include "base/error.h"
#include "base/files/output_folder.h"
#include "base/files/printable.h"
#include "registers/interrupts.h"
#include "registers/tables.h"
#include "replay/events.h"
#include "replay/recording.h"
#include "replay/text.h"

namespace dlasim {
namespace {

constexpr const char *kTxnName = "input.txn", *kCfgName = "test.cfg";
constexpr const char* kWriter = ", written by dlasim";  // at the end of a first line

const char* other_name(TraceForm form) { return form == TraceForm::Txn ? kCfgName : kTxnName; }
constexpr std::uint32_t kTxnBus = 0xffff0000;  // upper half of a word address
constexpr std::size_t kBytesOfPayload = 32;

std::vector<std::string> interrupts_of(std::uint32_t bits)
{
    std::vector<std::string> names;
    for (const reg::glb::Interrupt* interrupt : reg::glb::kInterrupts)
        for (const unsigned group : {0u, 1u})
            if ((bits & interrupt->bit(group)) != 0) names.push_back(fmt::format("{}_{}", interrupt->unit, group));
    return names;
}

/// pre: whole lines.
std::string txn_bytes(const std::vector<std::uint8_t>& bytes)
{
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) text += fmt::format("{:#04x}{}", bytes[i], i % kTxnLine == kTxnLine - 1 ? '\n' : ' ');
    return text;
}

/// What memory holds before, in whole lines: images that their ends reach into are one with them.
std::vector<MemoryImage> in_whole_lines(const Recording& recording)
{
    std::vector<MemoryImage> pieces;
    for (const MemoryImage& image : recording.images)
        pieces.push_back({image.place, std::vector<std::uint8_t>(round_up<std::uint64_t>(image.bytes.size(), kTxnLine))});
    std::sort(pieces.begin(), pieces.end(), [](const MemoryImage& a, const MemoryImage& b) {
        return std::pair(!a.place.primary, a.place.address.byte()) < std::pair(!b.place.primary, b.place.address.byte());
    });
    std::vector<MemoryImage> images;
    for (MemoryImage& piece : pieces) {
        MemoryImage* before = images.empty() ? nullptr : &images.back();
        if (!before || before->place.primary != piece.place.primary ||
            before->place.address + before->bytes.size() <= piece.place.address) {
            images.push_back(std::move(piece));
            continue;
        }
        const std::uint64_t end = piece.place.address - before->place.address + piece.bytes.size();
        before->bytes.resize(std::max<std::uint64_t>(before->bytes.size(), round_up(end, kTxnLine)));
    }
    for (MemoryImage& image : images)
        for (const MemoryImage& from : recording.images) {
            const bool inside = from.place.primary == image.place.primary && image.place.address <= from.place.address &&
                                from.place.address < image.place.address + image.bytes.size();
            if (inside)
                std::copy(from.bytes.begin(), from.bytes.end(),
                          image.bytes.begin() + static_cast<std::ptrdiff_t>(from.place.address - image.place.address));
        }
    return images;
}

std::string cfg_bytes(const std::vector<std::uint8_t>& bytes)
{
    std::string text = "{\n";
    for (std::size_t at = 0; at < bytes.size(); at += kBytesOfPayload) {
        const std::size_t count = std::min(kBytesOfPayload, bytes.size() - at);
        text += fmt::format("{{offset:{:#x}, size:{}, payload:", at, count);
        for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}{:#04x}", i == 0 ? "" : " ", bytes[at + i]);
        text += "},\n";
    }
    return text + "}\n";
}

template <class... F>
struct Forms : F... {
    using F::operator()...;
};
template <class... F>
Forms(F...) -> Forms<F...>;

class Writer {
public:
    Writer(const Recording& recording, const Hardware& hardware, const std::vector<std::pair<std::string, std::uint32_t>>& reads)
        : recording_(recording), hardware_(hardware), reads_(reads)
    {
    }

    void txn(OutputFolder& folder)
    {
        std::string text = "# " + printable(recording_.name) + kWriter + "\n";
        const std::vector<MemoryImage> images = in_whole_lines(recording_);
        for (std::size_t i = 0; i < images.size(); ++i) {
            const MemoryImage& image = images[i];
            check_port(image.place);
            const std::string file = fmt::format("memory_{}.dat", i);
            text += fmt::format("load_mem {:#x} {:#x} {}\n", image.place.address.byte(), image.bytes.size(), file);
            folder.file(file).finish(txn_bytes(image.bytes));
        }
        for (const ProgramEntry& entry : recording_.program) text += txn_entry(entry);
        for (std::size_t i = 0; i < recording_.outputs.size(); ++i) {
            const OutputRegion& region = recording_.outputs[i];
            check_port(region.place);
            const std::string file = fmt::format("output_{}.dat", i);
            text += fmt::format("dump_mem {:#x} {:#x} {}\n", region.place.address.byte(), region.bytes, file);
            folder.file(file).finish(txn_bytes(region.content));
        }
        folder.last().finish(text);
    }

    void cfg(OutputFolder& folder)
    {
        std::string text = "// " + printable(recording_.name) + kWriter + "\n";
        for (std::size_t i = 0; i < recording_.images.size(); ++i) {
            const MemoryImage& image = recording_.images[i];
            const std::string file = fmt::format("memory_{}.dat", i);
            text += fmt::format("mem_load({}, {:#x}, \"{}\");\n", memory_name(image.place), image.place.address.byte(), file);
            folder.file(file).finish(cfg_bytes(image.bytes));
        }
        // What is written and was not filled begins as zeros in every player.
        for (const OutputRegion& region : recording_.outputs)
            if (std::none_of(recording_.images.begin(), recording_.images.end(), [&](const MemoryImage& image) {
                    return image.place.primary == region.place.primary && image.place.address < region.place.address + region.bytes &&
                           region.place.address < image.place.address + image.bytes.size();
                }))
                text += fmt::format("mem_init({}, {:#x}, {:#x}, ALL_ZERO);\n", memory_name(region.place), region.place.address.byte(),
                                    region.bytes);
        for (const ProgramEntry& entry : recording_.program) text += cfg_entry(entry);
        if (recording_.outputs.empty()) text += "check_nothing(" + sync_name() + ");\n";
        for (const OutputRegion& region : recording_.outputs)
            text += fmt::format("check_crc({}, {}, {:#x}, {:#x}, {:#010x});\n", sync_name(), memory_name(region.place),
                                region.place.address.byte(), region.bytes, crc32_of(region.content));
        folder.last().finish(text);
    }

private:
    static const char* memory_name(const Place& place) { return place.primary ? "pri_mem" : "sec_mem"; }
    std::string sync_name() const { return fmt::format("sync_{}", syncs_ == 0 ? 0 : syncs_ - 1); }

    /// The players of input.txn know the memory by the address.
    void check_port(const Place& place) const
    {
        if (trace::place_of(place.address, hardware_) != place)
            throw ConfigError(recording_.name,
                              fmt::format("uses address {:#x}, which input.txn has at the other port", place.address.byte()));
    }

    std::uint32_t next_read()
    {
        if (read_ >= reads_.size()) throw ConfigError(recording_.name, "reads more than its run found");
        return reads_[read_++].second;
    }

    static std::uint32_t txn_word(std::uint32_t address) { return kTxnBus | address >> 2; }
    std::uint32_t txn_word(const char* name) const { return txn_word(*register_address(hardware_, name)); }

    /// The pin shows what was written before by the time this read is answered: that player waits for a level.
    std::string txn_settled() const
    {
        return fmt::format("read_reg {:#010x} 0x00000000 0x00000000 # dlasim -\n", txn_word("GLB.S_INTR_STATUS"));
    }

    /// A read is tried ten times only: interrupts are waited for one by one, the others masked meanwhile.
    std::string txn_wait(std::uint32_t bits)
    {
        const std::uint32_t status = txn_word("GLB.S_INTR_STATUS"), mask = txn_word("GLB.S_INTR_MASK");
        const auto write = [](std::uint32_t word, std::uint32_t value) {
            return fmt::format("write_reg {:#010x} {:#010x} # dlasim -\n", word, value);
        };
        std::string text, note = fmt::format("[\"WAIT_STATUS\", {}]", bits);
        for (std::uint32_t left = bits; left != 0; left &= left - 1) {
            const std::uint32_t bit = left & -left;
            text += write(mask, trace::kAllInterrupts & ~bit) + txn_settled() + "wait # dlasim " + std::exchange(note, "-") + "\n" +
                    write(status, bit);
        }
        return text + write(mask, mask_) + txn_settled();
    }

    std::string txn_entry(const ProgramEntry& entry)
    {
        return std::visit(
            Forms{[&](const RegisterWrite& w) {
                      if (w.name == "GLB.S_INTR_MASK") mask_ = w.value;
                      return fmt::format("write_reg {:#010x} {:#010x} #{}\n", txn_word(w.address), w.value, w.name);
                  },
                  [&](const RegisterRead& r) {
                      return fmt::format("read_reg {:#010x} 0xffffffff {:#010x} #{}\n", txn_word(r.address), next_read(), r.name);
                  },
                  [&](const PollRegister& p) {
                      return fmt::format("read_reg {:#010x} {:#010x} {:#010x} #{}\n", txn_word(p.address), p.mask, p.expected, p.name);
                  },
                  [](const MarkT0&) { return std::string("# dlasim [\"MARK\", \"t0\"]\n"); },
                  [&](const WaitInterrupt& w) {
                      return fmt::format("wait # dlasim [\"WAIT_INTR\", \"{}\"]\nwrite_reg {:#010x} 0xffffffff # dlasim -\n", w.name,
                                         txn_word("GLB.S_INTR_STATUS")) +
                             txn_settled();
                  },
                  [](const WaitPin&) { return std::string("wait\n"); }, [&](const WaitStatus& w) { return txn_wait(w.bits); },
                  [](const Stamp&) { return std::string(); }, [](const HostStep&) { return std::string(); }},
            entry);
    }

    std::string notify(const std::vector<std::string>& names, const std::string& note)
    {
        std::string text;
        for (const std::string& name : names)
            text += fmt::format("intr_notify({}, sync_{}); // dlasim {}\n", name, syncs_++, text.empty() ? note : "-");
        return text;
    }

    std::string cfg_entry(const ProgramEntry& entry)
    {
        return std::visit(
            Forms{[](const RegisterWrite& w) { return fmt::format("reg_write(NVDLA_{}_0, {:#x});\n", w.name, w.value); },
                  [&](const RegisterRead& r) { return fmt::format("reg_read_check(NVDLA_{}_0, {:#x});\n", r.name, next_read()); },
                  [](const PollRegister& p) { return fmt::format("poll_reg_equal(NVDLA_{}_0, {:#x});\n", p.name, p.expected); },
                  [](const MarkT0&) { return std::string("// dlasim [\"MARK\", \"t0\"]\n"); },
                  [&](const WaitInterrupt& w) {
                      std::string name = w.name;
                      for (const reg::glb::Interrupt* interrupt : reg::glb::kInterrupts)
                          if (!interrupt->also.empty() && name.starts_with(interrupt->also))
                              name.replace(0, interrupt->also.size(), interrupt->unit);
                      return notify({name}, fmt::format("[\"WAIT_INTR\", \"{}\"]", w.name));
                  },
                  [&](const WaitPin&) -> std::string {
                      throw ConfigError(recording_.name, "waits for the interrupt pin alone, which a .cfg cannot express");
                  },
                  [&](const WaitStatus& w) { return notify(interrupts_of(w.bits), fmt::format("[\"WAIT_STATUS\", {}]", w.bits)); },
                  [](const Stamp&) { return std::string(); }, [](const HostStep&) { return std::string(); }},
            entry);
    }

    const Recording& recording_;
    const Hardware& hardware_;
    const std::vector<std::pair<std::string, std::uint32_t>>& reads_;
    std::size_t read_ = 0, syncs_ = 0;
    std::uint32_t mask_ = 0;  // S_INTR_MASK, as the program has written it
};

}  // namespace

void check_trace_folder(TraceForm form, const std::filesystem::path& folder)
{
    make_folder(folder);
    std::error_code error;
    if (const auto other = folder / other_name(form); std::filesystem::exists(other, error)) {
        std::ifstream trace(other);
        std::string line;
        if (!std::filesystem::is_regular_file(other, error) || !std::getline(trace, line) || !line.ends_with(kWriter))
            throw ConfigError(other.string(), "is a trace that dlasim did not write, expected another folder (--to)");
    }
    for (auto entry = std::filesystem::directory_iterator(folder, error); !error && entry != std::filesystem::directory_iterator();
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const bool data = (name.starts_with("memory_") || name.starts_with("output_")) && name.ends_with(".dat");
        if (data || name == kTxnName || name == kCfgName) expect_no_input(entry->path());
    }
}

void write_trace(TraceForm form, const std::filesystem::path& folder, const Recording& recording, const Hardware& hardware,
                 const std::vector<std::pair<std::string, std::uint32_t>>& reads)
{
    const bool txn = form == TraceForm::Txn;
    OutputFolder files(folder, Sync::Now, txn ? kTxnName : kCfgName);  // the trace comes last
    files.drop(other_name(form));                                      // its data have the same names
    Writer writer(recording, hardware, reads);
    if (txn) writer.txn(files);
    else writer.cfg(files);
    files.publish();
}

}  // namespace dlasim
