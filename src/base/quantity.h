// Integers that cannot be exchanged for each other: counts of different things, and addresses.
//
// A quantity is constructed explicitly and added, subtracted and compared within its kind; a plain number scales it. What
// turns one kind into another is written out where it happens: Atoms{entries.count() * atoms_per_entry}. Costs nothing:
// it is its integer.
#pragma once
#include <compare>
#include <concepts>
#include <cstdint>

namespace dlasim {

// clang-tidy 14 takes the 0 that a rewritten comparison is compared with for a null pointer: NOLINT.

/// A count of what `Kind` names.
template <class Kind, std::integral T = std::uint32_t>
class Quantity {
public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(T count) : count_(count) {}

    constexpr T count() const { return count_; }
    constexpr bool any() const { return count_ != 0; }
    constexpr auto operator<=>(const Quantity&) const = default;  // NOLINT(modernize-use-nullptr)

    constexpr Quantity& operator+=(Quantity other)
    {
        count_ += other.count_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other)
    {
        count_ -= other.count_;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
    friend constexpr Quantity operator*(Quantity a, T times) { return Quantity(static_cast<T>(a.count_ * times)); }

private:
    T count_ = 0;
};

/// A byte address of the machine. Bytes move it, the difference of two of them is bytes.
class Address {
public:
    constexpr Address() = default;
    constexpr explicit Address(std::uint64_t byte) : byte_(byte) {}

    constexpr std::uint64_t byte() const { return byte_; }
    constexpr auto operator<=>(const Address&) const = default;  // NOLINT(modernize-use-nullptr)

    constexpr Address& operator+=(std::uint64_t bytes)
    {
        byte_ += bytes;
        return *this;
    }
    constexpr Address& operator-=(std::uint64_t bytes)
    {
        byte_ -= bytes;
        return *this;
    }
    friend constexpr Address operator+(Address a, std::uint64_t bytes) { return a += bytes; }
    friend constexpr Address operator-(Address a, std::uint64_t bytes) { return a -= bytes; }
    friend constexpr std::uint64_t operator-(Address a, Address b) { return a.byte_ - b.byte_; }

private:
    std::uint64_t byte_ = 0;
};

/// A range of that many bytes does not exceed the last address.
constexpr bool addressable(Address first, std::uint64_t bytes) { return bytes == 0 || first.byte() <= UINT64_MAX - (bytes - 1); }

/// Memory atoms: 8, 16 or 32 bytes each, by configuration.
using Atoms = Quantity<struct AtomKind>;
/// Entries of the convolution buffer: what one read of a bank returns.
using Entries = Quantity<struct EntryKind>;
/// Entries of the bank that holds the masks of compressed weights.
using MaskEntries = Quantity<struct MaskEntryKind>;
/// Slices of the convolution buffer: the entries of one input line.
using Slices = Quantity<struct SliceKind>;
/// Kernels: output channels of a convolution.
using Kernels = Quantity<struct KernelKind>;

}  // namespace dlasim
