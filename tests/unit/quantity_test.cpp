// Counts of different things cannot be exchanged: the compiler refuses what these lines say it refuses.
#include "base/quantity.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "traffic/convolution.h"
#include "traffic/memory.h"

namespace dlasim {
namespace quantity_test {

template <class Message, class... Fields>
concept MadeOf = requires(Fields... fields)
{
    Message{fields...};
};

template <class A, class B>
concept Adds = requires(A a, B b)
{
    a + b;
};
template <class A, class B>
concept Compares = requires(A a, B b)
{
    a < b;
};

// A count of one kind is no other one and no number, and no number is a count.
static_assert(!std::is_convertible_v<Atoms, Entries> && !std::is_constructible_v<Entries, Atoms>);
static_assert(!std::is_convertible_v<std::uint32_t, Atoms> && !std::is_convertible_v<Atoms, std::uint32_t>);
static_assert(!std::is_convertible_v<MaskEntries, Entries> && !std::is_convertible_v<Entries, MaskEntries>);
static_assert(Adds<Atoms, Atoms> && !Adds<Atoms, Entries> && !Adds<Atoms, std::uint32_t>);
static_assert(Compares<Kernels, Kernels> && !Compares<Kernels, Slices> && !Compares<Kernels, std::uint32_t>);

// The messages between CDMA and CSC take them in their places only.
static_assert(MadeOf<DataUpdate, Entries, Slices> && !MadeOf<DataUpdate, Slices, Entries>);
static_assert(!MadeOf<DataUpdate, std::uint32_t, std::uint32_t>);
static_assert(MadeOf<WeightUpdate, Kernels, Entries, MaskEntries>);
static_assert(!MadeOf<WeightUpdate, Entries, Kernels, MaskEntries> && !MadeOf<WeightUpdate, Kernels, MaskEntries, Entries>);
static_assert(MadeOf<Stripe, Cycle, std::uint32_t, Kernels> && !MadeOf<Stripe, Cycle, Kernels, std::uint32_t>);

// The request of a memory client: an address is no number of atoms.
static_assert(MadeOf<ReadRequest, Address, std::uint32_t> && !MadeOf<ReadRequest, std::uint32_t, Address>);
static_assert(!std::is_convertible_v<std::uint64_t, Address> && !std::is_convertible_v<Address, std::uint64_t>);
static_assert(Adds<Address, std::uint64_t> && !Adds<Address, Address> && !Adds<Address, Atoms>);

// They cost what their integers cost.
static_assert(sizeof(Address) == 8 && sizeof(Atoms) == 4 && std::is_trivially_copyable_v<Atoms>);
static_assert(sizeof(DataUpdate) == 8 && sizeof(WeightUpdate) == 12);

TEST(Quantity, CountsWithinItsKind)
{
    Entries entries{7};
    entries += Entries{5};
    entries -= Entries{2};
    EXPECT_EQ(entries.count(), 10u);
    EXPECT_EQ((entries + Entries{1} - Entries{3}).count(), 8u);
    EXPECT_EQ((entries * 3).count(), 30u);
    EXPECT_LT(Entries{9}, entries);
    EXPECT_TRUE(entries.any());
    EXPECT_FALSE(Entries{}.any());
}

}  // namespace quantity_test
}  // namespace dlasim
