// The bytes a read engine has received, in the order in which they were asked for, at positions that
// never restart. They are looked up by position when they are used: pipelines carry no data.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace dlasim {

class ByteStream {
public:
    void push(const std::uint8_t* from, std::uint32_t count)
    {
        while (end_ + count - begin_ > bytes_.size()) grow();
        copy_in(end_, from, count);
        end_ += count;
    }
    /// Bytes from `position`; what has not arrived, or was released, reads as zero.
    void read(std::uint64_t position, std::uint8_t* to, std::uint32_t count) const
    {
        if (position < begin_ || position + count > end_) {
            std::memset(to, 0, count);
            return;
        }
        const std::size_t at = position & (bytes_.size() - 1);
        const std::size_t first = bytes_.size() - at < count ? bytes_.size() - at : count;
        std::memcpy(to, bytes_.data() + at, first);
        std::memcpy(to + first, bytes_.data(), count - first);
    }
    /// The position after the last byte that has arrived.
    std::uint64_t end() const { return end_; }
    void release(std::uint64_t position)
    {
        if (position > begin_) begin_ = position < end_ ? position : end_;
    }

private:
    void copy_in(std::uint64_t position, const std::uint8_t* from, std::size_t count)
    {
        const std::size_t at = position & (bytes_.size() - 1);
        const std::size_t first = bytes_.size() - at < count ? bytes_.size() - at : count;
        std::memcpy(bytes_.data() + at, from, first);
        std::memcpy(bytes_.data(), from + first, count - first);
    }
    void grow()
    {
        std::vector<std::uint8_t> all(end_ - begin_);
        read(begin_, all.data(), static_cast<std::uint32_t>(all.size()));
        bytes_.resize(bytes_.size() * 2);
        copy_in(begin_, all.data(), all.size());
    }

    std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(8192);
    std::uint64_t begin_ = 0, end_ = 0;
};

}  // namespace dlasim
