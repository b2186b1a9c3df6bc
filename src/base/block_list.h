// Items with consecutive numbers: new ones at one end, forgotten at the other. They stay where they are while more are added, and
// nothing is written into one but by who adds it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace dlasim {

template <class T>
class BlockList {
    static_assert(std::is_trivially_default_constructible_v<T>);

public:
    using Number = std::uint64_t;

    Number base() const { return base_; }
    Number end() const { return end_; }
    bool has(Number number) const { return number >= base_ && number < end_; }
    T& operator[](Number number) { return blocks_[(number - first_) / kItems][(number - first_) % kItems]; }
    const T& operator[](Number number) const { return blocks_[(number - first_) / kItems][(number - first_) % kItems]; }
    /// The item of a number, from the one before it: quicker.
    T* next(T* before, Number number) { return (number - first_) % kItems == 0 ? &(*this)[number] : before + 1; }
    /// One more, with nothing in it yet.
    T& extend()
    {
        if ((end_ - first_) % kItems == 0) grow();
        ++end_;
        return *next_++;
    }
    /// The last ones are none any more. pre: base() <= end <= end()
    void shorten(Number end)
    {
        end_ = end;
        const std::size_t whole = (end - first_ + kItems - 1) / kItems;
        for (; blocks_.size() > whole; blocks_.pop_back()) spare_.push_back(std::move(blocks_.back()));
        if (!blocks_.empty()) next_ = blocks_.back().get() + (end - first_ - (whole - 1) * kItems);
    }
    /// Those before `base`. pre: base() <= base <= end()
    void forget(Number base)
    {
        base_ = base;
        const std::size_t whole = (base - first_) / kItems;
        for (std::size_t i = 0; i < whole; ++i) spare_.push_back(std::move(blocks_[i]));
        blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(whole));
        first_ += whole * kItems;
    }

private:
    static constexpr std::size_t kItems = 256;

    [[gnu::cold, gnu::noinline]] void grow()
    {
        if (spare_.empty()) spare_.push_back(std::make_unique_for_overwrite<T[]>(kItems));
        blocks_.push_back(std::move(spare_.back()));
        spare_.pop_back();
        next_ = blocks_.back().get();
    }

    std::vector<std::unique_ptr<T[]>> blocks_, spare_;
    Number first_ = 0, base_ = 0, end_ = 0;  // first_: of the first block
    T* next_ = nullptr;                      // the place of end_, where its block is there
};

}  // namespace dlasim
