#include "units/csc/data_ring.h"

namespace dlasim::csc {

DataRing::DataRing(const Hardware& hw, Cbuf& cbuf)
    : silicon_(facts::csc::of(hw)),
      entry_bytes_(hw.cbuf.entry_bytes),
      bank_depth_(hw.cbuf.bank_depth),
      lanes_(hw.mac.atomic_c),
      cbuf_(cbuf),
      padding_(entry_bytes_ + 64, 0),
      zeros_(entry_bytes_ + 64, 0)
{
}

void DataRing::start_layer(const LayerConfig& layer)
{
    layer_ = &layer;
    entries_ = layer.data_banks * bank_depth_;
    row_entries_ = layer.row_entries * layer.loaded_batches;
    paired_ = entry_bytes_ == 2 * lanes_ * layer.element_bytes;
    slice_ = slice_address_ = 0;
    last_.fill(kNoAddress);
    for (std::size_t i = 0; i < padding_.size(); ++i)
        padding_[i] = static_cast<std::uint8_t>(layer.int8() || i % 2 == 0 ? layer.pad_value : layer.pad_value >> 8);
}

Entries DataRing::release(const LayerConfig& of, Slices slices)
{
    const Entries released{of.entries * of.loaded_batches * slices.count()};
    start_ = (start_ + released.count()) % entries_;
    return released;
}

bool DataRing::request(std::uint32_t h, std::uint32_t address, bool forced, Cycle enable, bool used)
{
    const bool reads = forced || address != last_[h];
    last_[h] = address;
    if (!reads) return false;
    ++reads_;
    if (cbuf_.watch && used && address < cbuf_.entries()) cbuf_.watch->read(Held::Data, address, 0);
    if (probe_) record(enable);
    return true;
}

const std::uint8_t* DataRing::entry_before(std::uint32_t address) const
{
    // Before the start of the ring is the last row of the following bank: a defect of the silicon.
    return entry(address == 0 ? entries_ + bank_depth_ - 1 : address - 1);
}

void DataRing::end_block(bool channel_end)
{
    if (channel_end) {
        slice_ = slice_address_ = 0;
        return;
    }
    const bool half = paired_ && slice_ % 2 == 0;
    if (layer_->mode != ConvMode::Image && !half) slice_address_ += layer_->data_width;
    ++slice_;
}

void DataRing::end_package()
{
    cbuf_.data_reads += reads_ - accounted_;
    accounted_ = reads_;
    if (probe_ && run_length_ != 0) {
        probe_->run(run_start_, run_length_);
        run_length_ = 0;
    }
}

/// Enables in a row become one run of the probe.
void DataRing::record(Cycle enable)
{
    if (run_length_ != 0 && run_start_ + run_length_ == enable) {
        ++run_length_;
        return;
    }
    if (run_length_ != 0) probe_->run(run_start_, run_length_);
    run_start_ = enable;
    run_length_ = 1;
}

}  // namespace dlasim::csc
