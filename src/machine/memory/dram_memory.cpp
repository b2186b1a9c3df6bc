#include "memory/dram_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "elements/round_robin.h"
#include "links/guard.h"
#include "memory/payload.h"

namespace dlasim {

namespace {

std::uint64_t resolution_in_fs()
{
    const auto fs = static_cast<std::uint64_t>(std::llround(sc_core::sc_get_time_resolution().to_seconds() * 1e15));
    if (fs == 0) throw MachineError("DRAM: the resolution of SystemC time is finer than a femtosecond");
    return fs;
}

/// The longest time, in fs, of which both periods are multiples.
std::uint64_t common_unit(const Clock& clock, const dram::Config& config)
{
    return std::gcd(clock.period().value() * resolution_in_fs(), config.tck_fs());
}

}  // namespace

DramMemory::DramMemory(const sc_core::sc_module_name& name, Clock& clock, const dram::Config& config, MemoryStore& store, bool check,
                       unsigned ports, const DramPolicy* policy)
    : ClockedModule(name, clock, false),
      config_(config),
      policy_(policy),
      store_(store),
      resolution_fs_(resolution_in_fs()),
      by_period_(clock.period().value() * resolution_fs_ / common_unit(clock, config)),
      by_tck_(config.tck_fs() / common_unit(clock, config)),
      by_part_(config.organisation.request_bytes()),
      read_cycles_(static_cast<Cycle>(config.read_latency + config.burst())),
      slow_clock_cycle_(read_cycles_ * by_tck_.by() < by_period_.by() ? 1 : 0)
{
    if (check) checker_ = std::make_unique<dram::Checker>(config_);
    for (std::uint32_t c = 0; c < config_.organisation.channels; ++c) channels_.push_back(dram::make_channel(config_, policy));
    if (check) observe({});
    for (unsigned i = 0; i < ports; ++i)
        ports_.push_back(std::make_unique<Port>(*this, i == 0 ? "socket" : fmt::format("socket_{}", i).c_str()));
}

void DramMemory::observe(dram::CommandObserver observer)
{
    observer_ = std::move(observer);
    for (std::uint32_t c = 0; c < channels_.size(); ++c)
        channels_[c]->observe([this, c](const dram::Issued& issued) {
            dram::Issued here = issued;
            here.at.channel = c;
            if (checker_) checker_->see(here);
            if (observer_) observer_(here);
        });
}

std::vector<dram::Statistics> DramMemory::statistics(Cycle end)
{
    const Cycle dram_end = dram_cycle_from(end);
    std::vector<dram::Statistics> all;
    for (auto& channel : channels_) {
        if (dram_end != 0) channel->advance(dram_end - 1);
        all.push_back(channel->statistics(dram_end));
    }
    return all;
}

std::vector<dram::Statistics> DramMemory::finish(Cycle end)
{
    std::vector<dram::Statistics> all = statistics(end);
    if (checker_) checker_->finish(dram_cycle_from(end));
    return all;
}

// ---- requests

bool DramMemory::inside(Address address, std::uint64_t bytes) const
{
    const std::uint64_t capacity = config_.organisation.capacity_bytes();
    const Address base(config_.base);
    return address >= base && (config_.wrap || (address - base < capacity && capacity - (address - base) >= bytes));
}

/// As the policy has it, of an address from the base on.
dram::Location DramMemory::place_of(std::uint64_t address) const
{
    const dram::Location configured = config_.mapping.locate(address);
    return policy_ ? policy_->locate(address, configured) : configured;
}

/// What a policy may get wrong.
bool DramMemory::has_places(std::uint64_t address, std::uint64_t bytes) const
{
    if (!policy_) return true;
    const dram::Organisation& o = config_.organisation;
    const std::uint64_t first = address - config_.base, part = o.request_bytes();
    for (std::uint64_t at = first / part * part; at < first + bytes; at += part) {
        const dram::Location place = place_of(std::max(at, first));
        if (place.channel >= o.channels || place.rank >= o.ranks() || place.group >= o.bank_groups || place.bank >= o.banks ||
            place.row >= o.rows || place.column >= o.columns / o.burst_length)
            return false;
    }
    return true;
}

std::string DramMemory::refusal(Address address, std::uint64_t bytes) const
{
    if (inside(address, bytes)) {
        if (has_places(address.byte(), bytes)) return {};
        return fmt::format("the policy puts some of the {} bytes at {:#x} where {} has no bank, row or column", bytes, address.byte(),
                           config_.name);
    }
    const std::uint64_t capacity = config_.organisation.capacity_bytes();
    return fmt::format("{} bytes at {:#x} are not in the {} MiB from {:#x} on of {}; use wrap=true, base=ADDRESS or more channels", bytes,
                       address.byte(), capacity >> 20, config_.base, config_.name);
}

bool DramMemory::perform(Port& port, Payload& payload)
{
    payload.set_dmi_allowed(false);
    payload.set_response_status(refusal_of(payload));
    if (payload.is_response_error()) return false;
    MemoryBurst burst = burst_of(payload);
    if (!move_bytes(port, burst)) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return false;
    }
    return true;
}

/// False for an address that it does not have.
bool DramMemory::move_bytes(const Port& port, MemoryBurst& burst)
{
    const std::uint64_t address = burst.address + port.offset;
    burst.refused = !inside(Address(address), burst.bytes) || !has_places(address, burst.bytes);
    if (!burst.refused) {
        move(store_, burst, address);
        return true;
    }
    if (refused_.empty()) refused_ = refusal(Address(address), burst.bytes);
    return false;
}

void DramMemory::set_limit(unsigned port, unsigned bursts)
{
    ports_[port]->limit = bursts;
    if (blocked_ == 0) return;
    wake_ = clock_.now();
    wake_at(wake_);
}

void DramMemory::reset_counts()
{
    for (auto& port : ports_) port->counts = {};
}

tlm::tlm_sync_enum DramMemory::take(Port& port, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay)
{
    if (phase == tlm::BEGIN_REQ) {
        if (!payload.has_mm()) {
            payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            if (failures) failures->report(basename(), kNoMemoryManager);
            else SC_REPORT_ERROR("/dlasim", kNoMemoryManager);
            return tlm::TLM_COMPLETED;
        }
        const bool timed = perform(port, payload) && (payload.is_read() || payload.is_write()) && payload.get_data_length() != 0;
        if (!timed || port.blocked >= 0) {  // the request before has no END_REQ yet: against the base protocol
            if (timed) payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            else delay += clock_.period();
            return tlm::TLM_COMPLETED;
        }
        MemoryBurst burst = burst_of(payload);
        const MemoryModel::Taken taken = begin_request(port, burst, &payload, std::max(clock_.edge_after(delay), clock_.now()));
        if (taken.answered == kNever) payload.acquire();
        if (taken.accepted == kNever) return tlm::TLM_ACCEPTED;
        delay = clock_.until(taken.answered == kNever ? taken.accepted : taken.answered);
        phase = tlm::END_REQ;
        return taken.answered == kNever ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
    }
    if (phase == tlm::END_RESP && port.responding >= 0 && transfers_[static_cast<std::size_t>(port.responding)].payload == &payload) {
        const Cycle at = clock_.edge_after(delay);
        end_response(port, at);
        payload.release();
        return tlm::TLM_COMPLETED;
    }
    return tlm::TLM_ACCEPTED;
}

[[gnu::flatten]] MemoryModel::Taken DramMemory::take(Port& port, MemoryBurst& burst, Cycle from)
{
    if (!move_bytes(port, burst)) return {from, from + 1};
    return begin_request(port, burst, nullptr, from);
}

std::uint32_t DramMemory::make_transfer()
{
    if (idle_.empty()) {
        transfers_.emplace_back();
        return static_cast<std::uint32_t>(transfers_.size() - 1);
    }
    const std::uint32_t slot = idle_.back();
    idle_.pop_back();
    return slot;
}

/// A request of another port that is served at least as early was refused by a queue, and waits.
bool DramMemory::others_blocked(const Port& port) const
{
    return blocked_ != 0 && std::ranges::any_of(ports_, [&](const auto& other) {
               return other.get() != &port && other->blocked >= 0 && other->priority >= port.priority &&
                      transfers_[static_cast<std::size_t>(other->blocked)].tried;
           });
}

MemoryModel::Taken DramMemory::begin_request(Port& port, MemoryBurst& burst, Payload* payload, Cycle called)
{
    // Of several ports, one that is far ahead of time must not take the others with it.
    const bool later = ports_.size() > 1 && called > clock_.now() + 1;
    const bool held = later || (port.limit != 0 && port.outstanding() >= port.limit) || others_blocked(port);
    const Cycle asked = held ? called : std::max(called, last_request_);

    const std::uint32_t slot = make_transfer();
    Transfer& transfer = transfers_[slot];
    transfer.payload = payload;
    transfer.burst = &burst;
    transfer.waits = burst.waits;
    transfer.next_part = transfer.first = burst.address + port.offset - config_.base;
    transfer.end = transfer.next_part + burst.bytes;
    transfer.parts.clear();
    transfer.refused.at = 0;
    transfer.unknown = 0;
    transfer.respond = asked + 1;
    transfer.from = called;
    transfer.write = burst.write;
    transfer.accepted = transfer.tried = false;
    transfer.beat_bytes = burst.beat_bytes != 0 ? burst.beat_bytes : kBeatBytes;
    if (!transfer.write) port.reads.push_back(slot);
    ++(transfer.write ? port.counts.writes : port.counts.reads);
    (transfer.write ? port.counts.write_bytes : port.counts.read_bytes) += burst.bytes;

    bool accepted = false;
    if (!held) {
        last_request_ = asked;
        const Cycle at = dram_cycle_from(asked);
        advance(at);
        pushed_ = {at, &port};
        accepted = feed(slot, at);
    }
    if (accepted && transfer.write && port.paced) {
        for (auto& channel : channels_) collect(*channel);
        if (transfer.unknown == 0) {
            if (transfer.waits) transfer.waits->ready = transfer.respond;
            idle_.push_back(slot);
            return {asked, transfer.respond};
        }
    }
    if (transfer.write) port.writes.push_back(slot);
    transfer.accepted = accepted;
    if (!accepted) {
        transfer.tried = !held;
        port.blocked = slot;
        ++blocked_;
    }
    changed(port);
    return {accepted ? asked : kNever, kNever};
}

bool DramMemory::feed(std::uint32_t slot, Cycle at)
{
    Transfer& transfer = transfers_[slot];
    while (transfer.next_part < transfer.end) {
        const std::uint64_t part = by_part_(transfer.next_part), index = part - by_part_(transfer.first);
        if (part != located_) place_ = place_of(transfer.next_part);
        located_ = part;
        dram::Channel& channel = *channels_[place_.channel];
        if (!channel.can_accept(transfer.write)) {
            if (transfer.waits && transfer.refused.at == 0) transfer.refused = {at, channel.spent()};
            return false;
        }
        if (transfer.waits) {
            if (transfer.refused.at != 0) transfer.waits->taken = in_cycles(channel.spent(), transfer.refused, at);
            transfer.parts.push_back({at, channel.spent()});
        }
        ++transfer.unknown;
        const std::uint64_t start = part * by_part_.by(), next = std::min(start + by_part_.by(), transfer.end);
        channel.push({static_cast<std::uint64_t>(slot) << 32 | index, place_, transfer.write, start,
                      static_cast<std::uint32_t>(next - transfer.next_part)},
                     at);
        transfer.next_part = next;
    }
    return true;
}

void DramMemory::advance(Cycle dram_cycle)
{
    for (auto& channel : channels_) {
        channel->advance(dram_cycle);
        collect(*channel);
    }
}

/// Beat i of a burst is on the port `i` cycles after its first, so a part that holds it back holds
/// back the first by as many cycles less.
void DramMemory::collect(dram::Channel& channel)
{
    for (Ring<dram::Completion>& completed = channel.completed(); !completed.empty(); completed.pop_front()) {
        const dram::Completion& part = completed.front();
        Transfer& transfer = transfers_[part.id >> 32];
        const std::uint64_t index = part.id & 0xffffffff;
        const Cycle beat = index == 0 ? 0 : ((by_part_(transfer.first) + index) * by_part_.by() - transfer.first) / transfer.beat_bytes;
        const Cycle there = cycle_from(part.at) + slow_clock_cycle_;
        const Cycle respond = there > beat || transfer.write ? there - (transfer.write ? 0 : beat) : 0;
        if (transfer.waits && !transfer.write && respond >= transfer.respond && part.at > read_cycles_)
            transfer.waits->waited = in_cycles(part.spent, transfer.parts[index], part.at - read_cycles_ - 1);
        transfer.respond = std::max(transfer.respond, respond);
        --transfer.unknown;
    }
}

/// What a channel has spent since then, of the cycles up to `at`, in those of the initiator. What was on the bus before counts as data.
DramCycles DramMemory::in_cycles(const DramCycles& now, const Pushed& since, Cycle at) const
{
    constexpr std::size_t kData = dram_index(Cause::DramData);
    Cycle left = at > since.at ? at - since.at : 0;
    DramCycles spent{};
    Cycle sum = 0;
    Cycle rounded = 0;
    const auto add = [&](std::size_t i, Cycle each) {  // rounded so that the whole is
        sum += each;
        const Cycle before = std::exchange(rounded, whole_cycles(sum));
        spent[i] += static_cast<std::uint32_t>(rounded - before);
    };
    for (std::size_t i = kDramCauses; left != 0 && i-- > 0;) {
        if (now[i] == since.spent[i]) continue;
        const Cycle each = std::min<Cycle>(left, now[i] - since.spent[i]);
        left -= each;
        add(i, each);
    }
    if (left != 0) add(kData, left);
    return spent;
}

// ---- responses

Cycle DramMemory::evaluate(Cycle now)
{
    // At another time two ports that are held back might be served in another order.
    if (now < wake_) return wake_;
    const Cycle at = dram_cycle_by(now);
    wake_ = kNever;
    advance(at);
    if (blocked_ != 0) serve_blocked(now, at);
    for (auto& port : ports_) respond(*port, now + 1);
    wake_ = std::min(wake_, next_wake(now));
    if (wake_ > now) return wake_;
    wake_at(now);
    return kNever;
}

void DramMemory::serve_blocked(Cycle now, Cycle at)
{
    std::uint32_t waiting = 0;
    for (unsigned i = 0; i < ports_.size(); ++i)
        if (ports_[i]->blocked >= 0 && transfers_[static_cast<std::size_t>(ports_[i]->blocked)].from <= now) waiting |= 1u << i;
    while (waiting != 0) {
        unsigned most = 0;
        std::uint32_t first = 0;  // ports of the highest priority
        for (unsigned i = 0; i < ports_.size(); ++i) {
            if ((waiting >> i & 1) == 0 || ports_[i]->priority < most) continue;
            if (ports_[i]->priority > most) first = 0;
            most = ports_[i]->priority;
            first |= 1u << i;
        }
        const unsigned pick = elements::next_after(first, served_);
        waiting &= ~(1u << pick);
        Port& port = *ports_[pick];
        const auto slot = static_cast<std::uint32_t>(port.blocked);
        Transfer& transfer = transfers_[slot];
        transfer.tried = port.limit == 0 || port.outstanding() <= port.limit;
        if (!transfer.tried || !feed(slot, pushed_.by == &port ? at : std::max(at, pushed_.at))) continue;
        served_ = pick;
        port.blocked = -1;
        --blocked_;
        port.counts.held_back += now + 1 - transfer.from;
        transfer.accepted = true;
        transfer.respond = std::max(transfer.respond, now + 2);  // after END_REQ
        last_request_ = std::max(last_request_, now);
        for (auto& channel : channels_) collect(*channel);
        if (port.client) {
            port.client->accepted(*transfer.burst, now + 1);
            continue;
        }
        tlm::tlm_phase phase = tlm::END_REQ;
        sc_core::sc_time delay = clock_.until(now + 1);
        port.socket->nb_transport_bw(*transfer.payload, phase, delay);
    }
}

/// The first answer in order, if it is due by cycle `by`.
void DramMemory::respond(Port& port, Cycle by)
{
    if (port.responding >= 0) return;
    const Cycle now = clock_.now();
    const auto due = [&](const Ring<std::uint32_t>& queue) {
        if (queue.empty()) return kNever;
        const Transfer& transfer = transfers_[queue.front()];
        if (!transfer.accepted || transfer.unknown != 0) return kNever;
        return std::max({transfer.respond, transfer.write ? 0 : port.next_beat, now + 1});
    };
    const Cycle read = due(port.reads), write = due(port.writes), from = std::min(read, write);
    if (from > by) return;
    Ring<std::uint32_t>& queue = read <= write ? port.reads : port.writes;
    const std::uint32_t slot = queue.front();
    queue.pop_front();
    port.responding = slot;
    const Transfer& transfer = transfers_[slot];
    if (!transfer.write) {
        ++port.counts.answered_reads;
        port.counts.read_cycles += from - transfer.from;
    }
    if (transfer.waits) transfer.waits->ready = transfer.respond;
    if (port.client) return port.client->answered(*transfer.burst, from);
    Payload& payload = *transfer.payload;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = clock_.until(from);
    const tlm::tlm_sync_enum answer = port.socket->nb_transport_bw(payload, phase, delay);
    if (answer != tlm::TLM_COMPLETED && (answer != tlm::TLM_UPDATED || phase != tlm::END_RESP)) return;
    end_response(port, clock_.edge_after(delay));
    payload.release();
}

[[gnu::flatten]] void DramMemory::end_response(Port& port, Cycle at)
{
    if (!transfers_[static_cast<std::size_t>(port.responding)].write) port.next_beat = at + 1;
    idle_.push_back(static_cast<std::uint32_t>(port.responding));
    port.responding = -1;
    const Cycle now = clock_.now();
    const bool reads = port.client && port.writes.empty();
    if (!reads || port.blocked >= 0 || !knows_next_read(port)) advance(dram_cycle_by(now));
    // a client knows a read that much ahead: no write that it may still offer is answered before it
    if (reads) respond(port, now + 2);
    changed(port);
}

/// Its channels need not be advanced for that.
bool DramMemory::knows_next_read(const Port& port) const
{
    if (port.reads.empty()) return false;
    const Transfer& transfer = transfers_[port.reads.front()];
    return transfer.accepted && transfer.unknown == 0;
}

/// The cycle in which its next answer that is known is sent.
Cycle DramMemory::answer_due(const Port& port, Cycle now) const
{
    Cycle due = kNever;
    for (const Ring<std::uint32_t>* queue : {&port.reads, &port.writes}) {
        if (queue->empty() || port.responding >= 0) continue;
        const Transfer& transfer = transfers_[queue->front()];
        if (transfer.accepted && transfer.unknown == 0)
            due = std::min(due, std::max({transfer.respond, transfer.write ? 0 : port.next_beat, now + 1}) - 1);
    }
    return due;
}

/// The first cycle in which an answer that is not known yet might have to be sent.
Cycle DramMemory::unknown_due(const Port& port, Cycle now) const
{
    if (port.reads.empty() || port.responding >= 0) return kNever;
    const Transfer& transfer = transfers_[port.reads.front()];
    if (transfer.unknown == 0) return kNever;
    // The part that is not known yet may be of a later beat than the first.
    const Cycle later_beats = (transfer.end - transfer.first - 1) / transfer.beat_bytes;
    Cycle due = kNever;
    for (const auto& channel : channels_)
        if (const Cycle next = channel->horizon(); next != kNever)
            due = std::min(due, std::max(cycle_from(next + read_cycles_) + slow_clock_cycle_, now + later_beats + 2) - later_beats - 1);
    return due;
}

/// The first cycle in which its request that is held back might be taken.
Cycle DramMemory::room_due(const Port& port, Cycle now) const
{
    if (port.blocked < 0) return kNever;
    const Transfer& transfer = transfers_[static_cast<std::size_t>(port.blocked)];
    if (port.limit != 0 && port.outstanding() > port.limit) return kNever;  // an answer ends that
    if (!transfer.tried) return std::max(transfer.from, now + 1);
    Cycle due = kNever;
    for (const auto& channel : channels_)
        if (const Cycle next = channel->horizon(); next != kNever) due = std::min(due, std::max(cycle_from(next), now + 1));
    return due;
}

/// When something can be done: an answer sent, or a slot found for a waiting request.
Cycle DramMemory::next_wake(Cycle now) const
{
    Cycle wake = kNever;
    for (const auto& port : ports_) {
        wake = std::min(wake, answer_due(*port, now));
        const bool refused = port->blocked >= 0 && transfers_[static_cast<std::size_t>(port->blocked)].tried;
        wake = std::min({wake, room_due(*port, now), refused ? kNever : unknown_due(*port, now)});
    }
    return std::max(wake, now);
}

/// By a call of the port.
void DramMemory::changed(const Port& port)
{
    if (port.client && port.responding >= 0 && port.blocked < 0) return;  // the next thing is its end()
    const Cycle wake = next_wake(clock_.now());
    if (wake >= wake_) return;
    wake_ = wake;
    wake_at(wake);
}

// ---- the other interfaces

/// An estimate for untimed use: a burst from a closed bank of an idle memory.
void DramMemory::estimate(Port& port, Payload& payload, sc_core::sc_time& delay)
{
    perform(port, payload);
    std::int64_t activation = 0;
    for (const dram::Constraint& row : config_.constraints)
        for (dram::Command from : row.from)
            for (dram::Command to : row.to)
                if ((from == dram::Command::Act || from == dram::Command::Act2) && to == dram::Command::Rd)
                    activation = std::max(activation, row.gap);
    const std::uint64_t bursts =
        (payload.get_data_length() + config_.organisation.request_bytes() - 1) / config_.organisation.request_bytes();
    const std::uint64_t cycles =
        static_cast<std::uint64_t>(activation + config_.read_latency) + bursts * static_cast<std::uint64_t>(config_.burst());
    delay += sc_core::sc_time::from_value(cycles * config_.tck_fs() / resolution_fs_);
}

unsigned DramMemory::debug(Port& port, Payload& payload)
{
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        if (PortPace* pace = payload.get_extension<PortPace>()) {
            pace->command_interval = pace->write_interval = pace->beat_interval = 1;
            pace->explains = true;
            port.paced = true;
            if (pace->clock == &clock_ && ports_.size() == 1) {
                port.client = pace->client;
                pace->model = &port;
            }
        }
        return 0;
    }
    return perform(port, payload) ? payload.get_data_length() : 0;
}

}  // namespace dlasim
