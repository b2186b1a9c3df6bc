// CBUF, the convolution buffer: banks of entries, written by CDMA, read by CSC. It has no state
// machine, no arbiter and no flow control: a write is visible 3 cycles after its enable, a read
// returns after 6, and CDMA and CSC keep those distances by their status messages. So a value may be
// stored when it is known and fetched when it is needed; only the accesses are counted.
//
// Source  cbuf.md.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/expects.h"
#include "base/quantity.h"
#include "facts/hardware.h"
#include "traffic/watch.h"

namespace dlasim {

class Cbuf {
public:
    explicit Cbuf(const CbufHardware& hw) : entry_bytes_(hw.entry_bytes), entries_(hw.banks * hw.bank_depth)
    {
        if (!bytes_) throw std::bad_alloc();
    }

    std::uint32_t entries() const { return entries_; }
    std::uint32_t entry_bytes() const { return entry_bytes_; }

    const std::uint8_t* entry(std::uint32_t index) const
    {
        DLASIM_EXPECTS(index < entries());
        return bytes_.get() + std::size_t{index} * entry_bytes_;
    }
    /// Writes `count` bytes from byte `offset` after `before` entries; must stay inside the buffer.
    void write(Entries before, std::uint32_t offset, const std::uint8_t* from, std::uint32_t count, Held kind = Held::Data,
               std::uint64_t turn = 0)
    {
        if (watch) watch->written(kind, before.count(), turn);
        const std::size_t at = std::size_t{before.count()} * entry_bytes_ + offset;
        DLASIM_EXPECTS(at + count <= std::size_t{entries_} * entry_bytes_);
        std::memcpy(bytes_.get() + at, from, count);
    }

    CbufWatch* watch = nullptr;
    std::uint64_t data_writes = 0, weight_writes = 0;                // write strobes, counted by CDMA
    std::uint64_t data_reads = 0, weight_reads = 0, mask_reads = 0;  // read enables, counted by CSC

private:
    struct Free {
        void operator()(std::uint8_t* bytes) const { std::free(bytes); }
    };

    std::uint32_t entry_bytes_, entries_;
    // Zeros of the system: without values none of them is touched.
    std::unique_ptr<std::uint8_t[], Free> bytes_{static_cast<std::uint8_t*>(std::calloc(entries_, entry_bytes_))};
};

}  // namespace dlasim
