#include "units/mcif/read_ingress.h"

#include <algorithm>
#include <bit>

#include "base/expects.h"
#include "facts/fabric.h"

namespace dlasim::fabric {

namespace ff = facts::fabric;

ReadIngress::ReadIngress(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port)
    : full_(hardware.full()),
      bursts_(side == MemorySide::Secondary),
      stalls_(!hardware.full() && ff::kReadStagesStall),
      atom_bytes_(hardware.memory.atom_bytes),
      atom_shift_(static_cast<std::uint32_t>(std::countr_zero(atom_bytes_))),
      block_(ff::block_atoms(hardware, side == MemorySide::Primary ? hardware.memory.primary : hardware.memory.secondary)),
      port_(port)
{
    const auto add = [&](Client client) {
        const auto id = static_cast<std::uint8_t>(client);
        if (!links.read[id]) return;
        ClientState& state = clients_.emplace_back();
        state.link = links.read[id];
        state.id = id;
        state.depth = hardware.fabric.read_credit[id];
    };
    if (full_)
        for (std::uint8_t id = 0; id < kClients; ++id) add(static_cast<Client>(id));
    else
        for (const Client client : ff::kConfigurableReadOrder) add(client);
}

const ReadCommand* ReadIngress::step(Cycle at, const FabricSettings& settings, bool returned, bool contexts_full)
{
    changed_ = accepted_ = false;
    credit_at_ = kNever;

    // (3) limit and AR pipe
    const bool head = ordered_.valid();
    const std::uint32_t beats = head ? ordered_.head().context.beats : 0;
    limit_blocks_ = head && outstanding_ + beats - returned > settings.read_limit;
    const bool pass = !limit_blocks_ && !contexts_full;
    const bool taken_ar = pass && ar_.ready();
    const bool issue = head && taken_ar;
    if (issue) issued_ = ordered_.head();
    outstanding_ += (issue ? beats : 0) - returned;
    const bool fired = port_.ar.fires(at);
    if (fired) port_.ar.valid = false;
    changed_ |= ar_.step(head && pass ? &ordered_.head() : nullptr, fired, stalls_) || returned;
    if (ar_.valid() && !port_.ar.valid) {
        const ReadCommand& command = ar_.head();
        port_.ar = {{command.address, command.context.beats, command.client}, true, false, at + 1, kNever};
    }

    // (2) and (1)
    const bool room = ordered_.ready();
    ReadCommand next;
    bool offered = false, granting = room;
    if (full_) {
        granting = !serialising_;
        if (serialising_ && room) {
            next = serialise();
            offered = true;
            granting = serial_.context.atoms == 0;
        }
    }
    unsigned granted = UINT32_MAX;
    if (granting) {
        if (full_ && serialising_) {
            serialising_ = false;
            changed_ = true;
        }
        if (const std::uint32_t waiting = requests(settings)) {
            granted = arbiter_.pick(waiting);
            const ClientState& client = clients_[granted];
            arbiter_.grant(granted, settings.read_weight[client.id]);
            const ReadCommand command = command_of(client.slot.head(), client.id);
            changed_ = true;
            if (full_) {
                serial_ = command;
                serialising_ = true;
            } else {
                next = command;
                offered = true;
            }
        }
    }
    changed_ |= ordered_.step(offered ? &next : nullptr, taken_ar, stalls_);

    for (unsigned i = 0; i < clients_.size(); ++i) {
        ClientState& client = clients_[i];
        if (client.busy || client.link->request.valid(at)) step_client(client, at, i == granted);
    }
    return issue ? &issued_ : nullptr;
}

void ReadIngress::step_client(ClientState& client, Cycle at, bool granted)
{
    Pulse<bool>& credit = client.link->credit;
    while (at >= ff::kCreditLatency && credit.available(at - ff::kCreditLatency)) {
        credit.take();
        if (client.used != 0) --client.used;
    }

    Split& split = client.split;
    Chunk chunk;
    std::uint32_t need = 0;
    bool offered = false;
    if (client.second.valid()) {
        if (!split.active) {
            const ReadRequest& request = client.second.head();
            DLASIM_EXPECTS(request.atoms != 0);
            split = {true, request.address, request.atoms, 0, request.atoms, (request.address >> atom_shift_ & 1) != 0};
        }
        chunk = next_chunk(client, need);
        offered = client.depth == 0 || client.used + need <= client.depth;
        if (!offered && credit.next() != kNever) credit_at_ = std::min(credit_at_, credit.next() + ff::kCreditLatency);
    }
    const bool accepted = offered && client.slot.ready();
    bool done = false;
    changed_ |= client.slot.step(offered ? &chunk : nullptr, granted, stalls_);
    if (accepted) {
        if (client.depth != 0) client.used += need;
        split.address += std::uint64_t{chunk.context.atoms} << atom_shift_;
        split.left -= chunk.context.atoms;
        split.done += chunk.context.atoms;
        done = split.left == 0;
        split.active = !done;
        changed_ = true;
    }
    const bool room = client.second.ready();
    changed_ |= client.second.step(client.first.valid() ? &client.first.head() : nullptr, done, stalls_);

    Channel<ReadRequest>& request = client.link->request;
    const bool ready = client.first.ready(), arrives = request.valid(at);
    accepted_ |= ready && arrives;
    changed_ |= client.first.step(arrives ? &request.item(at) : nullptr, room, stalls_);
    if (client.first.ready() != ready) request.set_ready(at + 1, !ready);
    client.busy = !client.slot.quiet() || !client.second.quiet() || !client.first.quiet();
}

ReadIngress::Chunk ReadIngress::next_chunk(const ClientState& client, std::uint32_t& need) const
{
    const Split& split = client.split;
    const auto atom = static_cast<std::uint32_t>(split.address >> atom_shift_);
    const std::uint32_t atoms = std::min(split.left, block_ - atom % block_);
    const bool first = split.done == 0, last = atoms == split.left;
    if (!full_) need = atoms;
    else if (first) need = last ? (atoms + 1) / 2 : atoms / 2;
    else if (last) need = (atoms - 1 + split.odd_start) / 2 + 1;
    else need = block_ / 2;

    Chunk chunk;
    chunk.address = split.address;
    chunk.context.atoms = static_cast<std::uint8_t>(atoms);
    chunk.context.half = full_ ? atom & 1 : 0;
    chunk.context.lane = split.done & 1;
    chunk.context.odd_end = last && (split.total & 1);
    return chunk;
}

ReadCommand ReadIngress::command_of(const Chunk& chunk, std::uint8_t client) const
{
    ReadCommand command{chunk.address, client, chunk.context};
    if (full_) {
        command.address &= ~std::uint64_t{ff::kFullWordBytes - 1};
        command.context.beats = static_cast<std::uint8_t>((chunk.context.half + chunk.context.atoms + 1) / 2);
    } else {
        command.context.beats = chunk.context.atoms;
    }
    return command;
}

/// Takes the next command from the granted chunk; what is left has no atoms after the last one.
ReadCommand ReadIngress::serialise()
{
    ReadCommand command = serial_;
    ReadContext& left = serial_.context;
    if (bursts_) {
        left.atoms = 0;
        return command;
    }
    const auto atoms = static_cast<std::uint8_t>(std::min<unsigned>(left.atoms, 2u - left.half));
    command.context.beats = 1;
    command.context.atoms = atoms;
    left.atoms = static_cast<std::uint8_t>(left.atoms - atoms);
    command.context.odd_end = left.odd_end && left.atoms == 0;
    left.lane = (left.lane + atoms) & 1;
    left.half = 0;
    serial_.address += ff::kFullWordBytes;
    return command;
}

std::uint32_t ReadIngress::requests(const FabricSettings& settings) const
{
    std::uint32_t waiting = 0;
    for (unsigned i = 0; i < clients_.size(); ++i)
        if (clients_[i].slot.valid() && settings.read_weight[clients_[i].id] != 0) waiting |= 1u << i;
    return waiting;
}

bool ReadIngress::empty() const
{
    if (serialising_ || ordered_.valid() || ar_.valid()) return false;
    return std::none_of(clients_.begin(), clients_.end(),
                        [](const ClientState& c) { return c.slot.valid() || c.second.valid() || c.first.valid(); });
}

}  // namespace dlasim::fabric
