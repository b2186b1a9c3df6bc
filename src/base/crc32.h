// CRC-32 as zlib, PNG and Ethernet have it: measured cases, traces and programs in C name contents of memory by it.
//
// Source  ISO/IEC 8802-3: polynomial 0x04c11db7, reflected; start and final exclusive-or all ones.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace dlasim {

namespace crc32_detail {

constexpr std::array<std::uint32_t, 256> table()
{
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t byte = 0; byte < entries.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0xedb88320u : 0u);
        entries[byte] = rest;
    }
    return entries;
}

inline constexpr auto kTable = table();

}  // namespace crc32_detail

constexpr std::uint32_t crc32_of(std::span<const std::uint8_t> bytes)
{
    std::uint32_t rest = ~0u;
    for (const std::uint8_t byte : bytes) rest = rest >> 8 ^ crc32_detail::kTable[(rest ^ byte) & 0xff];
    return ~rest;
}

}  // namespace dlasim
