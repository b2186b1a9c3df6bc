// A FIFO that never allocates once it has grown to its working size. Replaces std::deque on the
// per-cycle path, where deque's block allocations show.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "base/expects.h"

namespace dlasim {

template <class T>
class Ring {
public:
    explicit Ring(std::size_t capacity = 8) : slots_(round_up(capacity)), mask_(slots_.size() - 1) {}

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T& front() { return slots_[head_]; }
    const T& front() const { return slots_[head_]; }
    T& back() { return slots_[(head_ + size_ - 1) & mask_]; }
    const T& back() const { return slots_[(head_ + size_ - 1) & mask_]; }
    T& operator[](std::size_t i) { return slots_[(head_ + i) & mask_]; }
    const T& operator[](std::size_t i) const { return slots_[(head_ + i) & mask_]; }

    void push_back(T value)
    {
        if (size_ > mask_) grow();
        slots_[(head_ + size_) & mask_] = std::move(value);
        ++size_;
    }
    /// Appends an item and returns it with its previous content: for large items that are filled in place.
    T& extend()
    {
        if (size_ > mask_) grow();
        return slots_[(head_ + size_++) & mask_];
    }
    void pop_front()
    {
        DLASIM_EXPECTS(size_ != 0);
        head_ = (head_ + 1) & mask_;
        --size_;
    }
    void clear() { head_ = size_ = 0; }

private:
    static std::size_t round_up(std::size_t n)
    {
        std::size_t power = 2;
        while (power < n) power *= 2;
        return power;
    }
    [[gnu::cold, gnu::noinline]] void grow()
    {
        std::vector<T> larger(slots_.size() * 2);
        for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
        slots_ = std::move(larger);
        mask_ = slots_.size() - 1;
        head_ = 0;
    }

    std::vector<T> slots_;  // a power of two of them
    std::size_t mask_;      // their number less one
    std::size_t head_ = 0, size_ = 0;
};

}  // namespace dlasim
