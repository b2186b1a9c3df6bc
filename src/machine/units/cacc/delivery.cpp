#include "units/cacc/delivery.h"

#include <algorithm>

#include "base/expects.h"

namespace dlasim::cacc {

Delivery::Delivery(std::uint32_t capacity, std::uint32_t lanes, Cycle available, bool clears_first)
    : capacity_(capacity),
      lanes_(lanes),
      until_available_(available),
      results_(std::size_t{capacity} * lanes, 0),
      tags_(clears_first),
      available_(64)
{
}

void Delivery::start_layer(const DeliveryOrder& order)
{
    order_ = order;
    counters_.fill(0);
    skip_ = false;
}

void Delivery::write(std::uint32_t position, const std::int32_t* results, std::uint32_t entries)
{
    for (std::uint32_t i = 0; i < entries; ++i) {
        const std::uint32_t at = (position + i) % capacity_;
        std::copy_n(results + std::size_t{i} * lanes_, lanes_, results_.data() + std::size_t{at} * lanes_);
    }
}

void Delivery::publish(Cycle at, std::uint32_t entries)
{
    // Atom after atom, one a cycle: one item for all of them.
    if (!available_.empty()) {
        Available& last = available_.back();
        if (last.per_cycle == entries && last.at + last.entries / last.per_cycle == at) {
            last.entries += entries;
            return;
        }
    }
    available_.push_back({at, entries, entries});
}

void Delivery::append(const std::int32_t* results, std::uint32_t entries, Cycle at, bool last)
{
    if (!in_order()) return append_reordered(results, entries, at, last);
    write(base_, results, entries);
    pass(entries);
    if (last) end_layer(at, base_ + capacity_ - 1);
    publish(at, entries);
}

void Delivery::append_run(std::uint32_t atoms, std::uint32_t entries, Cycle at, bool last)
{
    if (atoms == 0) return;
    pass(atoms * entries);
    if (last) end_layer(at + atoms - 1, base_ + capacity_ - 1);
    publish(at, entries);
    available_.back().entries += (atoms - 1) * entries;
}

/// The write pointer goes on.
void Delivery::pass(std::uint32_t entries) { base_ = (base_ + entries) % capacity_; }

void Delivery::append_reordered(const std::int32_t* results, std::uint32_t entries, Cycle at, bool last)
{
    const auto& [batch, column, row, group] = counters_;
    if (batch == 0 && column == 0 && row == 0 && group == 0) parity_ = line_parity_ = surface_parity_ = order_.address_odd;
    const bool batch_end = batch == order_.last_batch;
    const bool hole = skip_ ? !batch_end : !parity_ && column != order_.last_column;

    write(base_, results, entries);
    if (last) end_layer(at, base_ + entries - 1);
    const std::uint32_t next = (base_ + entries * (hole ? 2 : 1)) % capacity_;
    const std::uint32_t back = back_;
    if (hole && batch == 0 && !skip_) back_ = (base_ + entries) % capacity_;
    base_ = hole && !skip_ && batch_end ? (batch == 0 ? back_ : back) : next;
    if (!hole || skip_) publish(at, skip_ ? 2 * entries : entries);

    if (batch_end) {
        if (column == order_.last_column && row == order_.last_row)
            parity_ = line_parity_ = surface_parity_ = surface_parity_ ^ order_.surface_odd;
        else if (column == order_.last_column) parity_ = line_parity_ = line_parity_ ^ order_.line_odd;
        else parity_ = !parity_;
        skip_ = !skip_ && hole;
    }
    if (last) skip_ = false;
    const std::array<std::uint32_t, 4> ends{order_.last_batch, order_.last_column, order_.last_row, order_.last_group};
    for (std::size_t i = 0; i < counters_.size(); ++i) {
        if (counters_[i] < ends[i]) {
            ++counters_[i];
            return;
        }
        counters_[i] = 0;
    }
}

void Delivery::pop()
{
    DLASIM_EXPECTS(any());
    ends_layer_ = false;
    if (++read_ == capacity_) read_ = 0;
    if (++taken_ == available_.front().entries) {
        available_.pop_front();
        taken_ = 0;
    }
}

}  // namespace dlasim::cacc
