// Collects the registers of a pass for one machine, unit by unit; refuses what a register cannot hold.
#pragma once
#include <initializer_list>
#include <string_view>

#include "lowering/pass.h"
#include "registers/field.h"

namespace dlasim {

inline std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
inline std::uint32_t high_word(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
inline std::uint32_t low_word(Address address) { return low_word(address.byte()); }
inline std::uint32_t high_word(Address address) { return high_word(address.byte()); }

class RegisterWriter {
public:
    explicit RegisterWriter(const Hardware& hw) : hw_(hw) {}

    /// What follows is written to registers of this unit.
    void unit(std::string_view name);
    /// To the unit's registers of a group.
    void unit(std::string_view name, unsigned group);
    /// A register that holds one number. Of an address or stride the bits inside an atom are not stored.
    void put(reg::Register at, std::uint64_t value);
    /// A field, or several of one register; its others become 0.
    void put(reg::FieldValue field) { put({field}); }
    void put(std::initializer_list<reg::FieldValue> fields);
    /// Bits of a number that the register stores, or that an atom does without.
    std::uint32_t held(reg::Register at) const;
    void enable(std::string_view unit);

    PassRegisters take() { return std::move(out_); }

private:
    const RegisterRow& row(std::uint32_t offset) const;
    void write(const RegisterRow& row, std::uint64_t value, std::uint32_t kept);

    const Hardware& hw_;
    const UnitRegisters* unit_ = nullptr;
    PassRegisters out_;
};

/// The registers of a pass of the convolution pipeline, and its enables in the order they are written. register_writes.cpp
void write_pass(RegisterWriter& out, const Pass& pass, const Geometry& geometry, const Addresses& address, const UnitGroups& groups);
/// The registers of SDP, and of SDP_RDMA where it reads anything. sdp_writes.cpp
void write_sdp(RegisterWriter& out, const Pass& pass, const Geometry& geometry, const Addresses& address);
/// SDP_RDMA has something to read: features, or operands.
inline bool sdp_reads(const Pass& pass) { return pass.mode == PassMode::Sdp || pass.post.streams(); }

}  // namespace dlasim
