// A queue of requests of one direction: up to 64 slots, each in two lists by age, that of its bank
// and that of all. Knows for every bank the oldest request and the oldest that hits the open row.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "dram/device.h"

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

    RequestQueue(std::uint32_t capacity, std::size_t banks);

    bool full() const { return free_ == 0; }
    std::size_t size() const { return count_; }
    std::uint64_t pending() const { return pending_; }  // banks with requests
    std::uint64_t hits() const { return hits_; }        // banks whose open row some request wants,
    std::uint64_t passing() const { return passing_; }  // and not the oldest one of the bank
    std::uint64_t held() const { return held_; }        // slots that wait for an older request
    bool by_order() const { return released_ == 0; }    // none has waited: the list of all is in the order of arrival
    std::int8_t oldest() const { return oldest_; }
    std::int8_t oldest_of(std::uint32_t bank) const { return head_[bank]; }
    std::int8_t hit_of(std::uint32_t bank) const { return hit_[bank]; }
    Slot& operator[](std::int8_t slot) { return slots_[static_cast<std::size_t>(slot)]; }
    const Slot& operator[](std::int8_t slot) const { return slots_[static_cast<std::size_t>(slot)]; }

    /// pre: !full(). A held one takes a slot but is in no list until release().
    std::int8_t push(const Slot& request, const Bank& bank, bool hold);
    void release(std::int8_t s, const Bank& bank);
    void erase(std::int8_t s);
    void opened(std::uint32_t bank, std::uint32_t row);
    void closed(std::uint32_t bank) { set_hit(bank, kNone); }
    /// The request for this place, kNone if there is none.
    std::int8_t find(const Location& at, std::uint32_t bank) const;
    /// Held ones included.
    bool contains(const Location& at, std::uint32_t bank) const;

private:
    static std::uint8_t key(const Location& at, std::uint32_t bank) { return static_cast<std::uint8_t>(at.column + 32 * bank + at.row); }
    void link(std::int8_t s, const Bank& bank);
    void set_hit(std::uint32_t bank, std::int8_t s);

    std::array<Slot, 64> slots_;
    std::array<std::uint8_t, 256> places_{};  // requests by a key of their place: most places are in none
    std::uint64_t free_, pending_ = 0, hits_ = 0, passing_ = 0, held_ = 0, released_ = 0;
    std::size_t count_ = 0;
    std::int8_t oldest_ = kNone, newest_ = kNone;
    std::vector<std::int8_t> head_, tail_, hit_;  // by bank
};

}  // namespace dlasim::dram
