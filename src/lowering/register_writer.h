// Collects the registers of a pass, by name, for one machine; refuses what a register cannot hold.
#pragma once
#include "lowering/pass.h"

namespace dlasim {

inline std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
inline std::uint32_t high_word(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
inline std::uint32_t low_word(Address address) { return low_word(address.byte()); }
inline std::uint32_t high_word(Address address) { return high_word(address.byte()); }
inline std::uint32_t half_word(std::int32_t value) { return static_cast<std::uint32_t>(value) & 0xffff; }
inline std::uint32_t halves(std::uint32_t upper, std::uint32_t lower) { return upper << 16 | lower; }

class RegisterWriter {
public:
    explicit RegisterWriter(const Hardware& hw) : hw_(hw) {}

    void put(const char* unit, const std::string& name, std::uint64_t value);
    void enable(const char* unit) { out_.enables.push_back({std::string(unit) + ".D_OP_ENABLE", 1}); }
    PassRegisters take() { return std::move(out_); }

protected:
    const Hardware& hw_;

private:
    PassRegisters out_;
};

/// The registers of SDP, and of SDP_RDMA where it reads anything. sdp_writes.cpp
void write_sdp(RegisterWriter& out, const Pass& pass, const Geometry& geometry, const Addresses& address);
/// SDP_RDMA has something to read: features, or operands.
inline bool sdp_reads(const Pass& pass) { return pass.mode == PassMode::Sdp || pass.post.streams(); }

}  // namespace dlasim
