#include "dram/mapping.h"

#include <fmt/format.h>

#include <bit>

#include "base/error.h"
#include "dram/config.h"

namespace dlasim::dram {
namespace {

constexpr std::array<const char*, kFields> kFieldNames{"ch", "ra", "bg", "ba", "ro", "co"};

unsigned log2_of(std::uint64_t value) { return static_cast<unsigned>(std::bit_width(value) - 1); }

std::array<unsigned, kFields> widths(const Organisation& o)
{
    return {log2_of(o.channels), log2_of(o.ranks()), log2_of(o.bank_groups),
            log2_of(o.banks),    log2_of(o.rows),    log2_of(o.columns) - log2_of(o.burst_length)};
}

[[noreturn]] void refuse(const std::string& where, const std::string& text, const std::string& why)
{
    throw ConfigError(where, fmt::format("\"{}\": {}", text, why));
}

/// Fields from the least significant one up; each bit is a bit of the address.
std::vector<Field> fields_of(const std::string& text, const std::string& where)
{
    std::vector<Field> fields;
    const bool lower = text.size() == 12;
    if (!lower && text.size() != 10)
        refuse(where, text,
               "a mapping is a scheme's name (bank_interleave, bg_lsb, page_xor, ...), twelve letters like "
               "rochrababgco, RoBaRaCoCh, MOP4CLXOR, or an object of bit lists");
    for (std::size_t at = text.size(); at != 0;) {
        at -= 2;
        std::string two = text.substr(at, 2);
        if (!lower) {
            if (two[0] < 'A' || two[0] > 'Z') refuse(where, text, "fields are written Ro, Ba, Ra, Co, Ch");
            two[0] = static_cast<char>(two[0] - 'A' + 'a');
        }
        std::size_t f = 0;
        while (f < kFields && two != kFieldNames[f]) ++f;
        if (f == kFields) refuse(where, text, fmt::format("\"{}\" is not one of ro ch ra ba bg co", two));
        if (!lower && two == "bg") refuse(where, text, "Ba means bank group and bank");
        if (!lower && two == "ba") fields.push_back(Field::Group);
        fields.push_back(static_cast<Field>(f));
    }
    for (std::size_t f = 0; f < kFields; ++f) {
        std::size_t count = 0;
        for (Field field : fields) count += static_cast<std::size_t>(field) == f;
        if (count != 1) refuse(where, text, fmt::format("{} appears {} times, not once", kFieldNames[f], count));
    }
    return fields;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& mapping_schemes()
{
    static const std::vector<std::pair<std::string, std::string>> schemes{
        {"bank_interleave", "rorababgcoch"}, {"dramsim3_ddr4", "rochrababgco"}, {"dramsim3_hbm", "rorabgbachco"},
        {"bg_interleave", "rorabacobgch"},   {"bg_lsb", "rochrabacobg"},        {"page_xor", "MOP4CLXOR"}};
    return schemes;
}

Mapping::Mapping(const std::string& text, const Organisation& organisation, const std::string& where) : text_(text)
{
    std::string spelled = text;
    for (const auto& [name, meaning] : mapping_schemes())
        if (name == text) spelled = meaning;

    const auto width = widths(organisation);
    Masks masks;
    unsigned next = 0;
    const auto take = [&](Field field, unsigned count) {
        for (unsigned i = 0; i < count; ++i) masks[static_cast<std::size_t>(field)].push_back(std::uint64_t{1} << next++);
    };
    if (spelled == "MOP4CLXOR") {
        const unsigned columns = width[static_cast<std::size_t>(Field::Column)];
        const unsigned low = columns < 2 ? columns : 2;
        take(Field::Channel, width[0]);
        take(Field::Column, low);
        take(Field::Rank, width[1]);
        take(Field::Group, width[2]);
        take(Field::Bank, width[3]);
        take(Field::Column, columns - low);
        take(Field::Row, width[4]);
        const auto& column = masks[static_cast<std::size_t>(Field::Column)];
        unsigned slice = 0;
        for (Field field : {Field::Rank, Field::Group, Field::Bank})
            for (std::uint64_t& mask : masks[static_cast<std::size_t>(field)]) {
                if (slice < column.size()) mask ^= column[slice];
                ++slice;
            }
    } else {
        for (Field field : fields_of(spelled, where)) take(field, width[static_cast<std::size_t>(field)]);
    }
    compile(std::move(masks), organisation, where);
}

Mapping::Mapping(std::array<std::vector<std::vector<unsigned>>, kFields> bits, const Organisation& organisation, const std::string& where)
    : text_("custom")
{
    const auto width = widths(organisation);
    const unsigned offset = log2_of(organisation.request_bytes());
    const unsigned top = log2_of(organisation.capacity_bytes());
    Masks masks;
    for (std::size_t f = 0; f < kFields; ++f) {
        if (bits[f].size() != width[f])
            refuse(where, "custom", fmt::format("{} has {} bits and {} are listed", kFieldNames[f], width[f], bits[f].size()));
        for (const auto& xored : bits[f]) {
            std::uint64_t mask = 0;
            for (unsigned bit : xored) {
                if (bit < offset || bit >= top)
                    refuse(where, "custom", fmt::format("address bit {} is not in {}..{}", bit, offset, top - 1));
                mask ^= std::uint64_t{1} << (bit - offset);
            }
            masks[f].push_back(mask);
        }
    }
    compile(std::move(masks), organisation, where);
}

void Mapping::compile(Masks masks, const Organisation& organisation, const std::string& where)
{
    offset_bits_ = log2_of(organisation.request_bytes());
    address_mask_ = organisation.capacity_bytes() - 1;

    // Two addresses must never share a place: the bits have to be independent (Gauss over GF(2)).
    std::vector<std::uint64_t> basis;
    std::size_t count = 0;
    for (const auto& field : masks)
        for (std::uint64_t mask : field) {
            for (std::uint64_t b : basis) mask = std::min(mask, mask ^ b);
            if (mask == 0) refuse(where, text_, "two bits of the mapping depend on each other, so that bursts would overlap");
            basis.push_back(mask);
            ++count;
        }
    const unsigned wanted = log2_of(organisation.capacity_bytes()) - offset_bits_;
    if (count != wanted) refuse(where, text_, fmt::format("{} bits are mapped, the capacity has {}", count, wanted));

    for (std::size_t f = 0; f < kFields; ++f) {
        Slice& slice = slices_[f];
        const auto& field = masks[f];
        bool together = !field.empty() && std::has_single_bit(field[0]);
        if (together) slice.shift = log2_of(field[0]);
        for (unsigned bit = 0; bit < field.size(); ++bit) {
            if (together && field[bit] == std::uint64_t{1} << (slice.shift + bit)) slice.mask |= 1u << bit;
            else slice.scattered.push_back({field[bit], bit});
        }
    }
    masks_ = std::move(masks);
}

std::string Mapping::describe() const
{
    std::string lines;
    for (std::size_t f = 0; f < kFields; ++f)
        for (std::size_t bit = 0; bit < masks_[f].size(); ++bit) {
            lines += fmt::format("{}[{}] =", kFieldNames[f], bit);
            const char* separator = " ";
            for (unsigned a = 0; a < 64; ++a)
                if (masks_[f][bit] >> a & 1) {
                    lines += fmt::format("{}{}", separator, a + offset_bits_);
                    separator = " ^ ";
                }
            lines += '\n';
        }
    return lines;
}

}  // namespace dlasim::dram
