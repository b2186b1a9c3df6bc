#include "loadable/write/file_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/bits.h"
#include "base/error.h"
#include "loadable/programmer.h"
#include "loadable/write/container_bytes.h"
#include "loadable/write/dependencies.h"
#include "loadable/write/descriptor_bytes.h"
#include "loadable/write/mixed_operands.h"

namespace dlasim::loadable {
namespace {

constexpr Version kContainerVersion{0, 7, 0}, kInterfaceVersion{0, 12, 3};
constexpr std::uint64_t kAlignment = 4096, kNear = 4096;  // bytes; between what shares a memory
constexpr std::uint64_t kPast = 256;                      // slack of a memory of constants: bursts end later
constexpr std::size_t kMaxOperations = INT16_MAX;
constexpr std::uint32_t kDla = 1, kEmu = 2;  // interfaces

/// Bytes that one memory of the file holds.
struct MemoryRange {
    std::uint64_t begin = 0, end = 0;
    std::size_t memory = 0;  // in the file
    bool fixed = false;      // bound by the caller
    bool holds(std::uint64_t from, std::uint64_t bytes) const { return from >= begin && from + bytes <= end; }
};

class FileWriter {
public:
    FileWriter(RecoveredTask task, const FileSource& source) : from_(std::move(task)), s_(source) { l_.file = source.where; }

    std::string write()
    {
        if (from_.operations.empty()) throw ConfigError(s_.where, "has no operation of the machine, expected one at least");
        if (from_.operations.size() > kMaxOperations)
            throw ConfigError(s_.where,
                              fmt::format("has {} operations, expected {} at most in one file", from_.operations.size(), kMaxOperations));
        resolve_mixed_operands(from_, s_.constants, own_, [this](std::size_t i) { return where(i); });
        for (const char* name : {"task-0-addr0", "task-0-dep_graph", "task-0-op_list", "task-0-surf_list", "task-0-lut_list"})
            if (std::string_view(name) != "task-0-lut_list" || !from_.tables.empty()) add_list(name);
        lay_out();
        describe();
        if (s_.softmax) add_softmax(*s_.softmax);
        std::string bytes = loadable_bytes(l_);
        prove(bytes);
        return bytes;
    }

private:
    std::string where(std::size_t i) const
    {
        const std::string step = s_.name ? s_.name(i) : "";
        return fmt::format("{}: operation {} ({}){}{}", s_.where, i, from_.operations[i].operation.name(), step.empty() ? "" : " of step ",
                           step);
    }

    /// A memory of descriptors; their bytes come last.
    void add_list(const char* name, std::uint32_t interface = kDla)
    {
        l_.memories.push_back(
            {.flags = MemoryEntry::Allocate | MemoryEntry::Set, .alignment = kAlignment, .contents = {{l_.blobs.size(), 0}}});
        l_.blobs.push_back({.name = name,
                            .version = kInterfaceVersion,
                            .bytes = {},
                            .interface = interface,
                            .sub_interface = static_cast<std::uint32_t>(l_.blobs.size() + 1)});
    }

    /// All bytes that an operand is in.
    static std::uint64_t extent(const Operation& o, const Cube& cube)
    {
        const std::uint32_t batch = o.kind == Kind::Conv ? o.conv.batch : o.kind == Kind::Sdp ? o.sdp.batch : 1;
        std::uint64_t more = 0;
        if (batch > 1 && (&cube == &o.conv.source)) more = std::uint64_t{o.conv.batch_stride} * (batch - 1);
        if (batch > 1 && (&cube == &o.sdp.destination)) more = std::uint64_t{o.sdp.batch_stride} * (batch - 1);
        if (o.kind == Kind::Conv && &cube == &o.conv.source && o.conv.second_plane > 0)
            more = static_cast<std::uint64_t>(o.conv.second_plane) + std::uint64_t{o.conv.second_line_stride} * cube.height;
        return std::max<std::uint64_t>(cube.size, 1) + more;
    }

    template <class Each>
    void each_place(Each visit)
    {
        for (std::size_t i = 0; i < from_.operations.size(); ++i) {
            RecoveredOperation& o = from_.operations[i];
            const std::vector<Cube*> cubes = cubes_of(o.operation);
            for (std::size_t k = 0; k < o.places.size(); ++k) {
                if (!o.places[k]) continue;
                if (!o.places[k]->primary)
                    throw ConfigError(where(i), "uses the secondary memory (CVSRAM), which NVIDIA's runtime never allocates");
                std::uint64_t bytes = 0;
                if (cubes.empty()) {
                    const Transfer& t = o.operation.bdma.transfers[k / 2];
                    const std::uint64_t line = k % 2 == 0 ? t.source_line : t.destination_line,
                                        surface = k % 2 == 0 ? t.source_surface : t.destination_surface;
                    bytes = surface * (t.surfaces - 1) + line * (t.lines - 1) + t.line_bytes;
                } else {
                    bytes = extent(o.operation, *cubes[k]);
                }
                visit(i, k, o.places[k]->address.byte(), bytes);
            }
        }
    }

    void lay_out()
    {
        for (const BoundTensor& tensor : s_.bound) bind(tensor);
        std::vector<MemoryRange> free;
        const auto add = [&](std::uint64_t begin, std::uint64_t bytes, const std::string& what) {
            for (const MemoryRange& range : ranges_) {
                if (range.holds(begin, bytes)) return;
                if (begin < range.end && range.begin < begin + bytes)
                    throw ConfigError(what, fmt::format("uses {} bytes from {:#x} on, which reach beyond tensor {}: a memory that is bound "
                                                        "has no other content",
                                                        bytes, begin, l_.tensors[l_.memories[range.memory].tensor].name));
            }
            free.push_back({begin, begin + bytes, 0, false});
        };
        each_place([&](std::size_t i, std::size_t, std::uint64_t begin, std::uint64_t bytes) { add(begin, bytes, where(i)); });
        std::vector<ConstantBytes> constants = s_.constants;
        for (const OwnOperands& own : own_) constants.push_back({own.place, own.bytes});
        for (const ConstantBytes& constant : constants)
            if (!constant.bytes.empty()) add(constant.place.address.byte(), constant.bytes.size(), s_.where);
        std::sort(free.begin(), free.end(), [](const MemoryRange& a, const MemoryRange& b) { return a.begin < b.begin; });
        std::vector<MemoryRange> merged;
        for (const MemoryRange& range : free) {
            if (!merged.empty() && range.begin <= merged.back().end + kNear && !bound_between(merged.back().end, range.begin))
                merged.back().end = std::max(merged.back().end, range.end);
            else merged.push_back(range);
        }
        for (MemoryRange& range : merged) add_memory(range, constants);
    }
    bool bound_between(std::uint64_t end, std::uint64_t begin) const
    {
        return std::any_of(ranges_.begin(), ranges_.end(),
                           [&](const MemoryRange& r) { return r.fixed && r.begin >= end && r.begin < begin; });
    }

    void bind(const BoundTensor& tensor)
    {
        unsigned& number = tensor.output ? outputs_ : inputs_;
        ranges_.push_back({tensor.place.address.byte(), tensor.place.address.byte() + tensor.bytes, l_.memories.size(), true});
        l_.memories.push_back({.flags = MemoryEntry::Allocate | unsigned{tensor.output ? MemoryEntry::Output : MemoryEntry::Input},
                               .size = tensor.bytes,
                               .alignment = kAlignment,
                               .contents = {},
                               .bind = number++,
                               .tensor = static_cast<unsigned>(l_.tensors.size())});
        l_.tensors.push_back(tensor.tensor);
        l_.tensors.back().size = tensor.bytes;
    }

    void add_memory(MemoryRange& range, const std::vector<ConstantBytes>& constants)
    {
        range.memory = l_.memories.size();
        MemoryEntry memory;
        memory.flags = MemoryEntry::Allocate;
        memory.alignment = kAlignment;
        std::uint64_t end = 0;  // of the constants
        for (const ConstantBytes& constant : constants) {
            const std::uint64_t begin = constant.place.address.byte();
            if (!constant.bytes.empty() && range.holds(begin, constant.bytes.size()))
                end = std::max(end, begin + constant.bytes.size() - range.begin);
        }
        memory.size = range.end - range.begin;
        if (end != 0) {
            std::vector<std::uint8_t>& data = held_.emplace_back(end);
            for (const ConstantBytes& constant : constants) {
                const std::uint64_t begin = constant.place.address.byte();
                if (!constant.bytes.empty() && range.holds(begin, constant.bytes.size()))
                    std::copy(constant.bytes.begin(), constant.bytes.end(),
                              data.begin() + static_cast<std::ptrdiff_t>(begin - range.begin));
            }
            memory.flags |= MemoryEntry::Set;
            memory.size = round_up(memory.size, kPast) + kPast;
            memory.contents = {{l_.blobs.size(), 0}};
            l_.blobs.push_back({.name = fmt::format("tb-{}", constants_++), .version = {}, .bytes = data});
        }
        l_.memories.push_back(std::move(memory));
        ranges_.push_back(range);
    }

    void describe()
    {
        HardwareTask task;
        for (const RecoveredOperation& o : from_.operations) task.operations.push_back(o.operation);
        task.tables = from_.tables;
        link_operations(from_, s_.hardware, task);
        for (std::size_t m = 0; m < l_.memories.size(); ++m) l_.addresses.push_back({m, 0});
        each_place([&](std::size_t i, std::size_t k, std::uint64_t at, std::uint64_t bytes) { point(task, i, k, at, bytes); });
        ListPlaces places;
        places.addresses = static_cast<std::uint16_t>(l_.addresses.size());
        places.tables = static_cast<std::int16_t>(from_.tables.empty() ? -1 : 4);
        DescriptorBytes lists = descriptor_bytes(task, places);
        std::size_t list = 0;
        for (std::vector<std::uint8_t>* bytes : {&lists.network, &lists.dependencies, &lists.operations, &lists.surfaces, &lists.tables}) {
            if (bytes->empty()) continue;
            l_.memories[list].size = bytes->size();
            l_.blobs[list++].bytes = held_.emplace_back(std::move(*bytes));
        }
        Task dla;
        dla.interface = Interface::Dla;
        for (std::size_t a = 0; a < l_.addresses.size(); ++a) dla.addresses.push_back(static_cast<std::uint16_t>(a));
        l_.tasks = {std::move(dla)};
        l_.order = {0};
        l_.version = kContainerVersion;
    }

    /// A task of the emulator, in a submit of its own.
    void add_softmax(const HostSoftmax& softmax)
    {
        const auto memory_of = [&](const Place& place) {
            const std::uint64_t at = place.address.byte(), bytes = std::uint64_t{softmax.channels} * softmax.element;
            const auto range = std::find_if(ranges_.begin(), ranges_.end(), [&](const MemoryRange& r) { return r.holds(at, bytes); });
            if (range == ranges_.end() || at - range->begin > UINT32_MAX)
                throw ConfigError(s_.where, fmt::format("has a softmax of {} bytes at {:#x}, which no memory holds", bytes, at));
            return std::pair{range->memory, static_cast<std::uint32_t>(at - range->begin)};
        };
        const auto [source, source_offset] = memory_of(softmax.source);
        const auto [destination, destination_offset] = memory_of(softmax.destination);
        HostLists lists = host_lists(softmax, source_offset, destination_offset);
        Task emu;
        emu.interface = Interface::Emu;
        for (auto [name, bytes] : {std::pair{"task-1-addr0", &lists.network}, std::pair{"task-1-op_list", &lists.operations},
                                   std::pair{"task-1-op_buffer_list", &lists.buffers}}) {
            add_list(name, kEmu);
            l_.memories.back().size = bytes->size();
            l_.blobs.back().version = {};
            l_.blobs.back().bytes = held_.emplace_back(std::move(*bytes));
            emu.addresses.push_back(static_cast<std::uint16_t>(l_.addresses.size()));
            l_.addresses.push_back({l_.memories.size() - 1, 0});
        }
        for (const std::size_t memory : {source, destination}) emu.addresses.push_back(static_cast<std::uint16_t>(memory));
        l_.tasks.push_back(std::move(emu));
        l_.order.push_back(1);
    }

    /// The memory and offset of a place; BDMA has no offsets: it gets an address of its own.
    void point(HardwareTask& task, std::size_t i, std::size_t k, std::uint64_t at, std::uint64_t bytes)
    {
        const auto range = std::find_if(ranges_.begin(), ranges_.end(), [&](const MemoryRange& r) { return r.holds(at, bytes); });
        if (range == ranges_.end())
            throw ConfigError(where(i), fmt::format("uses {} bytes from {:#x} on, which no memory holds", bytes, at));
        const std::uint64_t offset = at - range->begin;
        if (offset > UINT32_MAX) throw ConfigError(where(i), "uses a memory of more than 4 GiB");
        Operation& o = task.operations[i];
        const std::vector<Cube*> cubes = cubes_of(o);
        auto index = static_cast<std::int16_t>(range->memory);
        if (!cubes.empty()) {
            cubes[k]->address = index;
            cubes[k]->offset = static_cast<std::uint32_t>(offset);
            return;
        }
        if (offset != 0) {
            index = static_cast<std::int16_t>(l_.addresses.size());
            l_.addresses.push_back({range->memory, offset});
        }
        Transfer& t = o.bdma.transfers[k / 2];
        (k % 2 == 0 ? t.source : t.destination) = index;
    }

    /// What the driver will write leaves the same operations.
    void prove(const std::string& bytes) const
    {
        const Loadable read = parse_loadable(bytes, s_.where);
        const MemoryPlan memories(read, s_.hardware);
        const HardwareTask task = read_task(read, memories, 0);
        Program program;
        Programmer programmer(s_.hardware, read, memories, program);
        programmer.begin(task);
        std::vector<Prepared> chain;
        for (std::size_t i = 0; i < task.operations.size(); ++i) {
            chain.push_back(programmer.prepare(i));
            if (i + 1 < task.operations.size() && from_.chain[i + 1] == from_.chain[i]) continue;
            for (auto last = chain.rbegin(); last != chain.rend(); ++last) programmer.enable(*last);
            chain.clear();
        }
        const RecoveredTask driver = recover_operations(program, s_.hardware, s_.where, [](std::size_t) { return false; }).front();
        for (std::size_t i = 0; i < from_.operations.size(); ++i) compare(from_.operations[i], driver.operations[i], where(i));
        if (s_.softmax) prove_softmax(read_host_task(read, memories, 1));
    }

    void prove_softmax(const HostTask& read) const
    {
        const HostOperation wanted = s_.softmax->operation(), &found = read.operations.at(0);
        const bool same = read.operations.size() == 1 && found.type == wanted.type && found.input_scale == wanted.input_scale &&
                          found.output_scale == wanted.output_scale && found.source.channels == wanted.source.channels &&
                          found.destination.channels == wanted.destination.channels && found.source.element == wanted.source.element;
        if (!same) throw ConfigError(s_.where, "has a softmax that differs when read back");
    }

    static void compare(const RecoveredOperation& wanted, const RecoveredOperation& driver, const std::string& where)
    {
        for (const WrittenRegister& a : wanted.registers)
            for (const WrittenRegister& b : driver.registers)
                if (a.row == b.row && a.unit->name == b.unit->name && a.value != b.value && decides(a, wanted.operation))
                    throw ConfigError(where,
                                      fmt::format("needs {}.{} = {:#x}, but NVIDIA's driver writes {:#x}: no descriptor can express it",
                                                  a.unit->name, a.row->name, a.value, b.value));
        if (!wanted.operation.same_but_table(driver.operation))
            throw ConfigError(where, "needs registers that NVIDIA's driver writes differently: no descriptor can express it");
    }

    /// Registers that the driver derives, or never writes, where the operation depends on them. The others are fields of a descriptor,
    /// or the unit does not look at them in such an operation.
    static bool decides(const WrittenRegister& at, const Operation& o)
    {
        const std::string_view unit = at.unit->name, name = at.row->name;
        if (unit == "CSC") return name != "D_CYA" && name != "D_WMB_BYTES";
        if (unit == "CMAC_A" || unit == "CMAC_B") return name == "D_MISC_CFG";
        if (unit == "CACC") return name == "D_MISC_CFG" || name == "D_CLIP_CFG" || name.starts_with("D_DATAOUT_SIZE");
        if (unit == "CDMA")
            return name == "D_PIXEL_OFFSET" || name == "D_MISC_CFG" || name == "D_BANK" || name == "D_ENTRY_PER_SLICE" ||
                   (name == "D_DATAIN_SIZE_EXT_0" && o.conv.mode == 1);
        if (unit == "SDP") return name == "D_DATA_FORMAT";
        if (unit == "SDP_RDMA") return name == "D_FEATURE_MODE_CFG";
        if (unit == "PDP") return name.starts_with("D_RECIP") && o.pdp.method == 0;
        return name.starts_with("D_CONTRACT");
    }

    RecoveredTask from_;
    const FileSource& s_;
    Loadable l_;
    std::vector<MemoryRange> ranges_;
    std::deque<std::vector<std::uint8_t>> held_;  // bytes of blobs
    std::deque<OwnOperands> own_;
    unsigned inputs_ = 0, outputs_ = 0, constants_ = 0;
};

}  // namespace

std::string driver_file(RecoveredTask task, const FileSource& source) { return FileWriter(std::move(task), source).write(); }

}  // namespace dlasim::loadable
