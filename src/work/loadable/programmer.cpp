#include "loadable/programmer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bits.h"
#include "base/error.h"
#include "facts/abilities.h"
#include "facts/optional_units.h"
#include "registers/fields/bdma.h"
#include "registers/fields/cdma.h"
#include "registers/fields/glb.h"
#include "registers/fields/groups.h"
#include "workload/operations.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint32_t kEverySource = 0x003f03ff;  // of S_INTR_MASK
constexpr std::uint32_t kMaxCells = 8192;           // in a direction of a cube

}  // namespace

std::uint32_t Programmer::done_bit(Kind kind, unsigned group) { return interrupts_of(*launched_called(units_of(kind).front()), group); }

std::array<unsigned, kKinds> Programmer::next_groups() const
{
    std::array<unsigned, kKinds> groups{};
    std::copy_n(next_.begin(), kKinds, groups.begin());
    return groups;
}

unsigned Programmer::take(std::size_t unit)
{
    const unsigned group = next_[unit];
    next_[unit] ^= 1;
    return group;
}

Prepared Programmer::prepare(std::size_t operation) { return prepare(operation, next_[task_->operations[operation].type()]); }

Prepared Programmer::prepare(std::size_t operation, unsigned group)
{
    operation_ = operation;
    const Operation& o = task_->operations[operation];
    next_[o.type()] = group ^ 1;
    Prepared prepared{operation, group, 0, false};
    if (o.kind == Kind::Sdp || o.kind == Kind::Pdp) {
        prepared.rdma = o.kind == Kind::Sdp ? o.sdp.needs_rdma() : !o.pdp.source.on_the_fly();
        const std::size_t unit = o.kind == Kind::Sdp ? kSdpRdma : kPdpRdma;
        prepared.rdma_group = prepared.rdma ? take(unit) : next_[unit];
    }
    if (const auto* lacks = facts::missing_unit(hw_, units_of(o.kind).front())) refuse(fmt::format("{} has no {}", hw_.name, lacks->name));
    select(o.kind, prepared);
    if (nvidia_) read_before_writes(o.kind);
    visit([&](const auto& of_kind) { write(of_kind, prepared.rdma); }, o);
    return prepared;
}

void Programmer::read_pointers(Kind kind)
{
    for (const std::string_view name : units_of(kind)) {
        unit(name);
        read(reg::Register{kind == Kind::Bdma ? reg::bdma::STATUS : reg::groups::S_POINTER});
        if (kind == Kind::Conv) return;  // CACC speaks for the others
    }
}

/// Convolutions: that the group is idle. Others: their interrupts, which nothing has masked since reset, are unmasked.
void Programmer::read_before_writes(Kind kind)
{
    if (kind == Kind::Conv) {
        for (const std::string_view name : units_of(kind)) {
            unit(name);
            read(reg::groups::S_STATUS);
        }
        return;
    }
    unit("GLB");
    read(reg::glb::S_INTR_MASK);
    put(reg::glb::S_INTR_MASK, 0);
}

void Programmer::select(Kind kind, const Prepared& prepared)
{
    if (kind == Kind::Bdma) return;
    const bool own_turn = kind == Kind::Sdp || kind == Kind::Pdp;  // of the read engine
    for (const std::string_view name : units_of(kind)) {
        unit(name);
        put(reg::groups::S_POINTER, own_turn && name.ends_with("_RDMA") ? prepared.rdma_group : prepared.group);
    }
}

void Programmer::enable(const Prepared& prepared)
{
    const Kind kind = task_->operations[prepared.operation].kind;
    operation_ = prepared.operation;
    select(kind, prepared);
    if (kind == Kind::Bdma) {
        unit("BDMA");
        return put(prepared.group == 0 ? reg::bdma::CFG_LAUNCH0::GRP0_LAUNCH(1) : reg::bdma::CFG_LAUNCH1::GRP1_LAUNCH(1));
    }
    if (kind == Kind::Conv && nvidia_) {
        unit("CDMA");
        poll(reg::cdma::S_CBUF_FLUSH_STATUS::FLUSH_DONE, 1);
    }
    std::vector<std::string_view> units = units_of(kind);
    if (units.size() == 2) std::swap(units[0], units[1]);  // the read engine first
    for (const std::string_view name : units) {
        if (name.ends_with("_RDMA") && kind != Kind::Cdp && !prepared.rdma) continue;
        unit(name);
        put(reg::Register{unit_->group_start}, 1);
    }
}

void Programmer::unmask(Kind kind)
{
    const std::uint32_t mask = kEverySource & ~(done_bit(kind, 0) | done_bit(kind, 1));
    if (mask == mask_) return;
    unit("GLB");
    put(reg::glb::S_INTR_MASK, mask);
    mask_ = mask;
}

void Programmer::read_interrupts()
{
    unit("GLB");
    read(reg::glb::S_INTR_MASK);
    read(reg::glb::S_INTR_STATUS);
}

void Programmer::clear_interrupts(std::uint32_t status)
{
    unit("GLB");
    put(reg::glb::S_INTR_STATUS, status);
    read_interrupts();
}

void Programmer::unit(std::string_view name) { unit_ = find_unit(hw_, name); }

void Programmer::put(reg::Register at, std::uint64_t value)
{
    const RegisterRow* row = unit_->find(at.offset);
    program_.push_back(RegisterWrite{std::string(unit_->name) + "." + std::string(row->name), unit_->base + row->offset,
                                     static_cast<std::uint32_t>(value)});
}

void Programmer::put(std::initializer_list<reg::FieldValue> fields)
{
    const std::uint32_t offset = fields.begin()->field.offset;
    std::uint32_t word = 0;
    for (const reg::FieldValue& part : fields) word |= part.field.cut(part.value);
    put(reg::Register{offset}, word & unit_->find(offset)->write_mask);
}

void Programmer::wide(reg::Register high, reg::Register low, Address address)
{
    put(high, address.byte() >> 32);
    put(low, address.byte());
}

void Programmer::wide_low(reg::Register low, reg::Register high, Address address)
{
    if (!nvidia_) return wide(high, low, address);
    put(low, address.byte());
    put(high, address.byte() >> 32);
}

void Programmer::read(reg::Register at)
{
    const RegisterRow* row = unit_->find(at.offset);
    program_.push_back(RegisterRead{.name = std::string(unit_->name) + "." + std::string(row->name), .address = unit_->base + row->offset});
}

void Programmer::poll(reg::Field field, std::uint32_t value)
{
    const RegisterRow* row = unit_->find(field.offset);
    program_.push_back(PollRegister{std::string(unit_->name) + "." + std::string(row->name), unit_->base + row->offset,
                                    field.cut(field.max_value()), field.cut(value)});
}

void Programmer::refuse(const std::string& problem) const { throw ConfigError(task_->where_is(operation_), problem); }

void Programmer::check_precision(unsigned precision) const
{
    constexpr const char* kNames[] = {"int8", "int16", "fp16"};
    check(precision <= 2, fmt::format("has precision {}, expected 0 (int8), 1 (int16) or 2 (fp16)", precision));
    check(precision == 0 || facts::abilities(hw_).words,
          fmt::format("computes in {}, but {} supports only int8", kNames[precision], hw_.name));
}

void Programmer::check_size(const Cube& cube, const char* what) const
{
    const auto good = [](std::uint32_t size) { return size >= 1 && size <= kMaxCells; };
    check(good(cube.width) && good(cube.height) && good(cube.channels),
          fmt::format("has a {} of {} x {} x {}, expected 1 to {} in every dimension", what, cube.width, cube.height, cube.channels,
                      kMaxCells));
}

Address Programmer::address(int index, bool primary, std::uint64_t offset, const char* what, std::uint64_t bytes) const
{
    const std::string where = task_->where_is(operation_);
    const Place base = memories_.place(loadable_.tasks[task_->task], index, where);
    check(base.primary == primary,
          fmt::format("has its {} at the {} port, but its memory is at the other one", what, primary ? "primary" : "secondary"));
    const Place at = base + offset;
    check(memories_.holds(at, bytes),
          fmt::format("has {} bytes of {} from {:#x} on, which is not in the loadable's memories", bytes, what, at.address.byte()));
    return at.address;
}

Address Programmer::address(const Cube& cube, const char* what, std::uint64_t bytes) const
{
    check(cube.memory == CubeMemory::Primary || cube.memory == CubeMemory::Secondary,
          fmt::format("has memory type {} for its {}, expected 0 or 1", static_cast<unsigned>(cube.memory), what));
    return address(cube.address, cube.memory == CubeMemory::Primary, cube.offset, what, bytes);
}

Address Programmer::feature_address(const Cube& cube, const char* what, unsigned precision) const
{
    const std::uint32_t per_atom = hw_.memory.atom_bytes / (precision == 0 ? 1 : 2);
    const std::uint64_t bytes = std::uint64_t{cube.surface_stride} * (ceil_div(cube.channels, per_atom) - 1) +
                                std::uint64_t{cube.line_stride} * (cube.height - 1) + std::uint64_t{cube.width} * hw_.memory.atom_bytes;
    return address(cube, what, bytes);
}

}  // namespace dlasim::loadable
