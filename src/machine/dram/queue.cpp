#include "dram/queue.h"

#include <bit>

namespace dlasim::dram {

RequestQueue::RequestQueue(std::uint32_t capacity, std::size_t banks)
    : free_(capacity == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << capacity) - 1),
      head_(banks, kNone),
      tail_(banks, kNone),
      hit_(banks, kNone)
{
}

std::int8_t RequestQueue::push(const Slot& request, const Bank& bank, bool hold)
{
    const auto s = static_cast<std::int8_t>(std::countr_zero(free_));
    free_ &= free_ - 1;
    ++count_;
    slots_[static_cast<std::size_t>(s)] = request;
    ++places_[key(request.at, request.bank)];
    if (hold) held_ |= std::uint64_t{1} << s;
    else link(s, bank);
    return s;
}

void RequestQueue::release(std::int8_t s, const Bank& bank)
{
    held_ &= ~(std::uint64_t{1} << s);
    released_ |= std::uint64_t{1} << s;
    link(s, bank);
}

void RequestQueue::erase(std::int8_t s)
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
    } else {
        set_hit(slot.bank, hit_[slot.bank]);
    }
    if (head_[slot.bank] == kNone) pending_ &= ~(std::uint64_t{1} << slot.bank);
    --places_[key(slot.at, slot.bank)];
    free_ |= std::uint64_t{1} << s;
    released_ &= ~free_;
    --count_;
}

void RequestQueue::opened(std::uint32_t bank, std::uint32_t row)
{
    std::int8_t s = head_[bank];
    while (s != kNone && (*this)[s].at.row != row) s = (*this)[s].bank_newer;
    set_hit(bank, s);
}

std::int8_t RequestQueue::find(const Location& at, std::uint32_t bank) const
{
    if (places_[key(at, bank)] == 0) return kNone;
    for (std::int8_t s = tail_[bank]; s != kNone; s = (*this)[s].bank_older)
        if ((*this)[s].at.column == at.column && (*this)[s].at.row == at.row) return s;
    return kNone;
}

bool RequestQueue::contains(const Location& at, std::uint32_t bank) const
{
    if (find(at, bank) != kNone) return true;
    for (std::uint64_t left = held_; left != 0; left &= left - 1)
        if (slots_[static_cast<std::size_t>(std::countr_zero(left))].at == at) return true;
    return false;
}

void RequestQueue::link(std::int8_t s, const Bank& bank)
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

void RequestQueue::set_hit(std::uint32_t bank, std::int8_t s)
{
    hit_[bank] = s;
    const std::uint64_t bit = std::uint64_t{1} << bank;
    hits_ = s == kNone ? hits_ & ~bit : hits_ | bit;
    passing_ = s == kNone || s == head_[bank] ? passing_ & ~bit : passing_ | bit;
}

}  // namespace dlasim::dram
