// A queue of requests of one direction: up to 64 slots, each in two lists by age, that of its bank
// and that of all. Knows for every bank the oldest request and the oldest that hits the open row.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/expects.h"
#include "units/dram/device.h"

namespace dlasim::dram {

class RequestQueue {
public:
    static constexpr std::int8_t kNone = -1;
    struct Slot {
        std::uint64_t id = 0, order = 0;  // order: of arrival, over both directions
        Location at;
        Cycle arrived = 0;
        std::uint8_t bank = 0;
        std::int8_t older = kNone, newer = kNone;            // of all
        std::int8_t bank_older = kNone, bank_newer = kNone;  // of the bank
        bool classified = false;
    };

    RequestQueue(std::uint32_t capacity, std::size_t banks)
        : free_(capacity == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << capacity) - 1),
          head_(banks, kNone),
          tail_(banks, kNone),
          hit_(banks, kNone)
    {
    }

    bool full() const { return free_ == 0; }
    std::size_t size() const { return count_; }
    std::uint64_t pending() const { return pending_; }  // banks with requests
    std::uint64_t hits() const { return hits_; }        // banks whose open row some request wants
    std::uint64_t held() const { return held_; }        // slots that wait for an older request
    std::int8_t oldest() const { return oldest_; }
    std::int8_t oldest_of(std::uint32_t bank) const { return head_[bank]; }
    std::int8_t hit_of(std::uint32_t bank) const { return hit_[bank]; }
    Slot& operator[](std::int8_t slot) { return slots_[static_cast<std::size_t>(slot)]; }
    const Slot& operator[](std::int8_t slot) const { return slots_[static_cast<std::size_t>(slot)]; }

    /// pre: !full(). A held one takes a slot but is in no list until release().
    std::int8_t push(const Slot& request, const Bank& bank, bool hold)
    {
        const auto s = static_cast<std::int8_t>(std::countr_zero(free_));
        free_ &= free_ - 1;
        ++count_;
        slots_[static_cast<std::size_t>(s)] = request;
        if (hold) held_ |= std::uint64_t{1} << s;
        else link(s, bank);
        return s;
    }
    void release(std::int8_t s, const Bank& bank)
    {
        held_ &= ~(std::uint64_t{1} << s);
        link(s, bank);
    }
    void erase(std::int8_t s)
    {
        const Slot& slot = (*this)[s];
        (slot.older == kNone ? oldest_ : (*this)[slot.older].newer) = slot.newer;
        (slot.newer == kNone ? newest_ : (*this)[slot.newer].older) = slot.older;
        (slot.bank_older == kNone ? head_[slot.bank] : (*this)[slot.bank_older].bank_newer) = slot.bank_newer;
        (slot.bank_newer == kNone ? tail_[slot.bank] : (*this)[slot.bank_newer].bank_older) = slot.bank_older;
        if (hit_[slot.bank] == s) {
            std::int8_t next = slot.bank_newer;
            while (next != kNone && (*this)[next].at.row != slot.at.row) next = (*this)[next].bank_newer;
            set_hit(slot.bank, next);
        }
        if (head_[slot.bank] == kNone) pending_ &= ~(std::uint64_t{1} << slot.bank);
        free_ |= std::uint64_t{1} << s;
        --count_;
    }
    void opened(std::uint32_t bank, std::uint32_t row)
    {
        std::int8_t s = head_[bank];
        while (s != kNone && (*this)[s].at.row != row) s = (*this)[s].bank_newer;
        set_hit(bank, s);
    }
    void closed(std::uint32_t bank) { set_hit(bank, kNone); }
    /// The request for this place, kNone if there is none.
    std::int8_t find(const Location& at, std::uint32_t bank) const
    {
        for (std::int8_t s = tail_[bank]; s != kNone; s = (*this)[s].bank_older)
            if ((*this)[s].at.column == at.column && (*this)[s].at.row == at.row) return s;
        return kNone;
    }
    /// Held ones included.
    bool contains(const Location& at, std::uint32_t bank) const
    {
        if (find(at, bank) != kNone) return true;
        for (std::uint64_t left = held_; left != 0; left &= left - 1)
            if (slots_[static_cast<std::size_t>(std::countr_zero(left))].at == at) return true;
        return false;
    }

private:
    void link(std::int8_t s, const Bank& bank)
    {
        Slot& slot = (*this)[s];
        slot.older = newest_;
        slot.newer = kNone;
        (newest_ == kNone ? oldest_ : (*this)[newest_].newer) = s;
        newest_ = s;
        std::int8_t& tail = tail_[slot.bank];
        slot.bank_older = tail;
        slot.bank_newer = kNone;
        (tail == kNone ? head_[slot.bank] : (*this)[tail].bank_newer) = s;
        tail = s;
        pending_ |= std::uint64_t{1} << slot.bank;
        if (bank.state != BankState::Closed && bank.row == slot.at.row && hit_[slot.bank] == kNone) set_hit(slot.bank, s);
    }
    void set_hit(std::uint32_t bank, std::int8_t s)
    {
        hit_[bank] = s;
        const std::uint64_t bit = std::uint64_t{1} << bank;
        hits_ = s == kNone ? hits_ & ~bit : hits_ | bit;
    }

    std::array<Slot, 64> slots_;
    std::uint64_t free_, pending_ = 0, hits_ = 0, held_ = 0;
    std::size_t count_ = 0;
    std::int8_t oldest_ = kNone, newest_ = kNone;
    std::vector<std::int8_t> head_, tail_, hit_;  // by bank
};

}  // namespace dlasim::dram
