#include "memory/memory_store.h"

#include <gmock/gmock.h>

#include <vector>

#include "base/error.h"

namespace dlasim {
namespace memory_store_test {

using testing::Each;
using testing::ElementsAre;

std::vector<std::uint8_t> read(const MemoryStore& store, std::uint64_t address, std::size_t bytes)
{
    std::vector<std::uint8_t> data(bytes, 0xee);
    store.read(address, data.data(), bytes);
    return data;
}

TEST(MemoryStore, MemoryNobodyWroteIsZeroAndCostsNothing)
{
    const MemoryStore store;
    EXPECT_THAT(read(store, 0x123456789000, 200000), Each(0));
    EXPECT_EQ(store.pages(), 0u);
}

TEST(MemoryStore, KeepsWhatCrossesPages)
{
    MemoryStore store;
    std::vector<std::uint8_t> data(3 * MemoryStore::kPageBytes);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 31 >> 3);
    store.write(MemoryStore::kPageBytes - 5, data.data(), data.size());
    EXPECT_EQ(read(store, MemoryStore::kPageBytes - 5, data.size()), data);
    EXPECT_EQ(store.pages(), 4u);
}

TEST(MemoryStore, PagesThatShareACacheSlotAreToldApart)
{
    MemoryStore store;
    for (std::uint64_t i = 0; i < 40; ++i) {
        const auto byte = static_cast<std::uint8_t>(i + 1);
        store.write(i * MemoryStore::kPageBytes, &byte, 1);
    }
    for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(read(store, i * MemoryStore::kPageBytes, 1)[0], i + 1);
}

TEST(MemoryStore, ByteEnablesRepeat)
{
    MemoryStore store;
    const std::uint8_t data[]{1, 2, 3, 4, 5, 6}, enables[]{0xff, 0, 0xff};
    store.write(8, data, 6, enables, 3);
    EXPECT_THAT(read(store, 8, 6), ElementsAre(1, 0, 3, 4, 0, 6));
}

TEST(MemoryStore, AddressesUpToTheLastAreMemory)
{
    MemoryStore store;
    const std::uint8_t data[]{1, 2};
    store.write(UINT64_MAX - 1, data, 2);
    EXPECT_THAT(read(store, UINT64_MAX - 1, 2), ElementsAre(1, 2));
}

TEST(MemoryStore, MorePagesThanTheLimitAreAnErrorOfTheMachine)
{
    MemoryStore store(2);
    const std::uint8_t byte = 1;
    store.write(0, &byte, 1);
    store.write(MemoryStore::kPageBytes, &byte, 1);
    EXPECT_THROW(store.write(2 * MemoryStore::kPageBytes, &byte, 1), MachineError);
}

}  // namespace memory_store_test
}  // namespace dlasim
