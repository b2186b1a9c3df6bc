#include "units/cdma/data/data_types.h"

namespace dlasim::cdma {

bool StatusUnit::step(Entries added, Entries released, bool clear)
{
    const std::int64_t free_before = free_;
    const std::uint32_t index_before = write_index_;
    valid_ = clear ? 0 : valid_ + added.count() - released.count();
    free_ = std::int64_t{capacity_} - valid_;
    if (clear) {
        write_index_ = 0;
    } else if (added.any()) {
        const std::uint64_t next = std::uint64_t{write_index_} + added.count();
        write_index_ = static_cast<std::uint32_t>(capacity_ && next >= capacity_ ? next % capacity_ : next);
    }
    return free_ != free_before || write_index_ != index_before;
}

void DataContext::update(Cycle at, Entries entries, Slices slices)
{
    updates.push_back({at, entries});
    filled.put(at + facts::cdma::kUpdate, {entries, slices});
}

void DataContext::buffer_write(Cycle at)
{
    ++cbuf.data_writes;
    if (write_probe) write_probe->run(at, 1);
}

}  // namespace dlasim::cdma
