#include "units/rubik/bank.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace dlasim::rubik {

void Bank::open(const Block& block)
{
    block_ = block;
    request_ = filled_ = outer_ = inner_ = 0;
}

bool Bank::fill(const std::uint8_t* beat)
{
    const std::uint32_t count = std::min(block_.atoms - filled_, 2u);
    for (std::uint32_t i = 0; i < count; ++i) {
        Atom& to = atoms_[(request_ * block_.pitch + filled_ + i) % kAtoms];
        std::memcpy(to.data(), beat + i * kAtomBytes, kAtomBytes);
    }
    filled_ += count;
    if (filled_ < block_.atoms) return false;
    filled_ = 0;
    return ++request_ == block_.requests;
}

/// What is drained without a break between: a column of contract, a plane of split, all columns of merge.
std::uint32_t Bank::outer_count() const
{
    switch (block_.mode) {
        case Mode::Contract:
            return block_.columns;
        case Mode::Split:
            return block_.rows;
        case Mode::Merge:
            return 1;
    }
    return 1;
}

std::uint32_t Bank::inner_count() const
{
    switch (block_.mode) {
        case Mode::Contract:
            return block_.rows;
        case Mode::Split:
            return ceil_div(block_.columns * block_.element_bytes, kAtomBytes);
        case Mode::Merge:
            return block_.columns;
    }
    return 1;
}

std::uint32_t Bank::drain_atoms() const { return std::min(inner_count() - inner_, 2u); }

bool Bank::drain(Atom* out)
{
    const std::uint32_t count = drain_atoms();
    for (std::uint32_t i = 0; i < count; ++i) out[i] = atom(outer_, inner_ + i);
    inner_ += count;
    if (inner_ < inner_count()) return false;
    inner_ = 0;
    return ++outer_ == outer_count();
}

Atom Bank::atom(std::uint32_t outer, std::uint32_t inner) const
{
    const std::uint32_t size = block_.element_bytes, elements = kAtomBytes / size;
    Atom result{};
    switch (block_.mode) {
        case Mode::Contract:
            return atoms_[(inner * block_.pitch + outer) % kAtoms];
        case Mode::Split:
            for (std::uint32_t e = 0; e < elements && inner * elements + e < block_.columns; ++e)
                std::memcpy(result.data() + e * size, atoms_[inner * elements + e].data() + outer * size, size);
            return result;
        case Mode::Merge:
            for (std::uint32_t p = 0; p < block_.rows; ++p) {
                const Atom& row = atoms_[(p * block_.pitch + inner / elements) % kAtoms];
                std::memcpy(result.data() + p * size, row.data() + inner % elements * size, size);
            }
            return result;
    }
    return result;
}

}  // namespace dlasim::rubik
