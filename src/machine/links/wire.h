// What connects units: wires, handshake channels and pulses, in plain C++.
//
// Every signal that crosses a unit boundary of this machine is the output of a register, so its
// value in cycle t depends only on what happened before t. A link therefore takes values that hold
// from a *later* cycle on and remembers the one before: whoever is evaluated first in cycle t, both
// sides see the same values, and the order in which SystemC runs the units can never change a
// result. A link wakes its reader; a unit that nobody wakes and that decides nothing is not run.
//
//   writer, evaluated in t:  wire.set(t + 1, value)        reader, evaluated in u: wire.read(u)
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "base/expects.h"
#include "base/ring.h"
#include "links/probe.h"

namespace dlasim {

/// Somebody who can be asked to be evaluated in a later cycle.
class Sleeper {
public:
    virtual ~Sleeper() = default;
    virtual void wake_at(Cycle at) = 0;
};

/// A level. Written at most once a cycle, for a later cycle; read by one unit. Two changes may be to come: what holds until the first of
/// them is still read.
template <class T>
class Wire {
public:
    explicit Wire(T reset = T{}) : now_(reset), before_(reset), first_(reset) {}

    /// Without `wakes` the reader is not woken: it has no use for the value yet.
    void set(Cycle from, const T& value, bool wakes = true)
    {
        if (value == now_) return;
        DLASIM_EXPECTS(from >= since_);
        if (from > since_) {
            first_ = before_;
            first_since_ = before_since_;
            before_ = now_;
            before_since_ = since_;
        }
        now_ = value;
        since_ = from;
        if (probe) probe->level(from, static_cast<bool>(value));
        if (wakes && reader) reader->wake_at(from);
    }
    const T& read(Cycle at) const
    {
        if (at >= since_) return now_;
        if (at >= before_since_) return before_;
        DLASIM_EXPECTS(at >= first_since_);
        return first_;
    }
    /// No change is to come after cycle `at`.
    bool settled(Cycle at) const { return at >= since_; }
    /// The value that holds after everything that was set.
    const T& latest() const { return now_; }

    Sleeper* reader = nullptr;
    Probe* probe = nullptr;

private:
    T now_, before_, first_;
    Cycle since_ = 0, before_since_ = 0, first_since_ = 0;
};

/// valid, data and ready. The item moves in every cycle in which valid and ready are both 1.
/// The producer offers an item for a later cycle and holds it until it has moved, then offers the
/// next one or withdraws; the consumer says for later cycles whether it is ready.
template <class T>
class Channel {
public:
    // ---- producer
    void offer(Cycle from, const T& item)
    {
        advance_to(from);
        items_[newest_] = item;
        valid_[newest_] = true;
        if (valid_probe) valid_probe->level(from, true);
        if (consumer) consumer->wake_at(from);
    }
    /// As offer(); the caller fills in the item, which has the content of an earlier one, immediately.
    T& offer_in_place(Cycle from)
    {
        advance_to(from);
        valid_[newest_] = true;
        if (valid_probe) valid_probe->level(from, true);
        if (consumer) consumer->wake_at(from);
        return items_[newest_];
    }
    void withdraw(Cycle from)
    {
        if (!valid_[newest_]) return;
        advance_to(from);
        valid_[newest_] = false;
        if (valid_probe) valid_probe->level(from, false);
    }
    bool ready(Cycle at) const { return ready_.read(at); }
    /// The latest value that the consumer has set.
    bool ready_next() const { return ready_.latest(); }
    /// Nothing has been offered or withdrawn for a cycle after `at`, and nothing is offered: an item may be offered for any later one.
    bool free(Cycle at) const { return !valid_[newest_] && since_ <= at; }

    // ---- consumer
    /// An item is offered, now or for a later cycle.
    bool offered() const { return valid_[newest_]; }
    bool valid(Cycle at) const { return valid_[at >= since_ ? newest_ : newest_ ^ 1]; }
    const T& item(Cycle at) const { return items_[at >= since_ ? newest_ : newest_ ^ 1]; }
    /// Wakes the producer if it offers something: else it has no use for it.
    void set_ready(Cycle from, bool value) { ready_.set(from, value, offered()); }

    /// The item moves in this cycle.
    bool fires(Cycle at) const { return valid(at) && ready(at); }
    /// Nothing has ever been offered.
    bool unused() const { return since_ == 0; }

    /// Connects the two sides; ready is 1 after reset unless set otherwise.
    void connect(Sleeper* producer, Sleeper* to)
    {
        ready_.reader = producer;
        consumer = to;
    }
    Sleeper* consumer = nullptr;
    Probe* valid_probe = nullptr;
    void set_ready_probe(Probe* probe)
    {
        ready_.probe = probe;
        if (probe && ready_.latest()) probe->level(0, true);
    }

private:
    void advance_to(Cycle from)
    {
        DLASIM_EXPECTS(from >= since_);
        if (from == since_) return;
        newest_ ^= 1;
        since_ = from;
    }

    T items_[2]{};
    bool valid_[2]{};
    unsigned newest_ = 0;
    Cycle since_ = 0;
    Wire<bool> ready_{true};
};

/// Messages that last one cycle and cannot be refused: updates, credits, completions. They may be
/// put ahead of time (a chain of registers costs nothing) but in order.
template <class T>
class Pulse {
public:
    void put(Cycle at, const T& message)
    {
        DLASIM_EXPECTS(queue_.empty() || at >= queue_.back().at);
        queue_.push_back({at, message});
        if (probe) probe->run(at, 1);
        if constexpr (requires { message.entries.count(); })
            if (level) level->add(at, takes ? -static_cast<std::int64_t>(message.entries.count()) : message.entries.count());
        if (reader) reader->wake_at(at);
    }
    /// True while a message of cycle `at` or before has not been taken.
    bool available(Cycle at) const { return !queue_.empty() && queue_.front().at <= at; }
    T take()
    {
        T message = queue_.front().message;
        queue_.pop_front();
        return message;
    }
    /// The cycle of the next message, kNever if there is none yet: part of the reader's horizon.
    Cycle next() const { return queue_.empty() ? kNever : queue_.front().at; }

    Sleeper* reader = nullptr;
    Probe* probe = nullptr;
    Level* level = nullptr;  // that its messages raise or lower: those about entries of CBUF
    bool takes = false;

private:
    struct Entry {
        Cycle at = 0;
        T message{};
    };
    Ring<Entry> queue_;
};

}  // namespace dlasim
