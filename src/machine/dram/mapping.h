// Byte address to channel, rank, bank group, bank, row and column: every bit of a field is the
// parity of some address bits, which covers plain fields, bit lists and XOR hashing alike.
//
//   rochrababgco   fields from the most to the least significant, each ro ch ra ba bg co once
//   RoBaRaCoCh     the same idea with Ba for bank group and bank, in hierarchy order
//   MOP4CLXOR      four columns, rank, group and bank (XORed with the columns), columns, row
//   bit lists      ROW: [[13], [14, 17], ...], entry i is bit i, several are XORed
//
// Source: dram.md 2. The lowest bits, inside a burst, take no part.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dram/command.h"

namespace dlasim::dram {

struct Organisation;

enum class Field : std::uint8_t { Channel, Rank, Group, Bank, Row, Column };
inline constexpr std::size_t kFields = 6;

class Mapping {
public:
    Mapping() = default;
    /// A scheme's name, a field string or MOP4CLXOR. Throws ConfigError with the reason, at `where`.
    Mapping(const std::string& text, const Organisation& organisation, const std::string& where);
    /// Bit lists in byte-address bits, one list of XORed bits for each bit of each field.
    Mapping(std::array<std::vector<std::vector<unsigned>>, kFields> bits, const Organisation& organisation, const std::string& where);

    /// Where the burst at this address (relative to the memory's base, wrapped) lies.
    Location locate(std::uint64_t address) const
    {
        const std::uint64_t burst = (address & address_mask_) >> offset_bits_;
        const auto value = [&](Field field) {
            const Slice& slice = slices_[static_cast<std::size_t>(field)];
            std::uint32_t v = static_cast<std::uint32_t>(burst >> slice.shift) & slice.mask;
            for (const Parity& parity : slice.scattered)
                v |= static_cast<std::uint32_t>(__builtin_parityll(burst & parity.mask)) << parity.bit;
            return v;
        };
        return {value(Field::Channel), value(Field::Rank), value(Field::Group),
                value(Field::Bank),    value(Field::Row),  value(Field::Column)};
    }
    const std::string& text() const { return text_; }
    /// Address bits of each bit of a field, for the reader: "ro[0] = 13 ^ 17".
    std::string describe() const;

private:
    using Masks = std::array<std::vector<std::uint64_t>, kFields>;  // over burst-address bits
    struct Parity {
        std::uint64_t mask;
        unsigned bit;
    };
    struct Slice {
        unsigned shift = 0;
        std::uint32_t mask = 0;         // bits that lie together in the address
        std::vector<Parity> scattered;  // the others
    };
    void compile(Masks masks, const Organisation& organisation, const std::string& where);

    std::string text_;
    Masks masks_;
    std::array<Slice, kFields> slices_;
    std::uint64_t address_mask_ = 0;
    unsigned offset_bits_ = 0;
};

/// The schemes by name (dram.md 2.3).
const std::vector<std::pair<std::string, std::string>>& mapping_schemes();

}  // namespace dlasim::dram
