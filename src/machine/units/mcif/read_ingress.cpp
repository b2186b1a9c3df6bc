#include "units/mcif/read_ingress.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/expects.h"

namespace dlasim::fabric {

namespace ff = facts::fabric;

// Each place in the arbiter has one client.
static_assert([] {
    for (std::size_t i = 0; i < kClients; ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (kClientFacts[i].place != 0 && kClientFacts[i].place == kClientFacts[j].place) return false;
    return true;
}());

ReadIngress::ReadIngress(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, const FabricMode& mode)
    : silicon_(ff::of(hardware)),
      bursts_(side == MemorySide::Secondary),
      direct_(mode.direct),
      atom_shift_(static_cast<std::uint32_t>(std::countr_zero(hardware.memory.atom_bytes))),
      block_(ff::block_atoms(hardware, side == MemorySide::Primary ? hardware.memory.primary : hardware.memory.secondary)),
      address_mask_(address_mask(hardware)),
      port_(port)
{
    clients_.reserve(kClients);  // doorbells point at them
    const auto add = [&](std::uint8_t id) {
        if (!links.read[id] || (!silicon_.pairs && kClientFacts[id].place == 0)) return;
        ClientState& state = clients_.emplace_back();
        state.link = links.read[id];
        state.id = id;
        state.depth = hardware.fabric.read_credit[id];
    };
    std::array<std::uint8_t, kClients> order{};
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    if (!silicon_.pairs) std::ranges::sort(order, {}, [](std::uint8_t id) { return kClientFacts[id].place; });
    std::ranges::for_each(order, add);
    open_ = (1u << clients_.size()) - 1;
    DLASIM_EXPECTS(std::has_single_bit(block_));
}

void ReadIngress::apply(const FabricSettings& settings)
{
    read_limit_ = settings.read_limit;
    weighted_ = 0;
    for (unsigned i = 0; i < clients_.size(); ++i) {
        weight_[i] = settings.read_weight[clients_[i].id];
        if (weight_[i] != 0) weighted_ |= 1u << i;
    }
}

void ReadIngress::connect_doorbells()
{
    belled_ = true;
    rung_ = 0;
    for (unsigned i = 0; i < clients_.size(); ++i) {
        Channel<ReadRequest>& request = clients_[i].link->request;
        clients_[i].bell.hang(request.consumer, rung_, i);
        request.consumer = &clients_[i].bell;
        if (request.offered()) rung_ |= 1u << i;
        Pulse<bool>& credit = clients_[i].link->credit;
        clients_[i].credit_bell.owner = credit.reader;
        clients_[i].credit_bell.client = &clients_[i];
        clients_[i].credit_bell.due = &credit_due_;
        credit.reader = &clients_[i].credit_bell;
    }
}

void ReadIngress::CreditBell::wake_at(Cycle at)
{
    // one after another in flight is seen in horizon()
    if (!client->out_of_credit || client->link->credit.next() != at) return;
    *due = std::min(*due, at + ff::kCreditLatency);
    if (owner) owner->wake_at(at + ff::kCreditLatency);
}

[[gnu::flatten]] const ReadCommand* ReadIngress::step(Cycle at, bool contexts_full, bool settled)
{
    rest();
    const bool head = ordered(at), issues = head && issue(contexts_full);
    const ReadCommand* issued = issues ? &ordered_.head() : nullptr;
    if (head || !ar_.quiet()) serve_port(at, issued);
    if (!head && !serialising_ && belled_ && ((waiting_ & weighted_) | active_ | (rung_ & open_)) == 0) {
        const bool credit = credit_due_ <= at;
        if (!credit || (settled && only_credit())) {
            if (credit) pass_chunk(clients_[static_cast<unsigned>(std::countr_zero(starved_))], at);
            again_ = changed_ && (active_ != 0 || !ar_.quiet());
            return nullptr;
        }
    }
    const std::uint32_t requests = ordered_from_ == at + 1 ? 0 : waiting_ & weighted_;  // this cycle's grant was done ahead
    std::uint32_t granted = 0;
    const bool offered = (serialising_ || requests != 0) && order(requests, granted, at);
    if (offered || head) changed_ |= ordered_.step(offered, issues, silicon_.stages_stall);
    step_clients(at, granted);
    if (settled && waiting_ != 0 && ordered_.quiet() && direct_) pass_through(at);
    again_ =
        changed_ && (((waiting_ & weighted_) | active_) != 0 || serialising_ || (ordered_.valid() && ordered_from_ <= at) || !ar_.quiet());
    return issued;
}

/// No request is between the arbiter and the limit, so the arbiter's choice in the next cycle is known and made now. A client
/// that cannot proceed before its next credit is not evaluated until then.
void ReadIngress::pass_through(Cycle at)
{
    const std::uint32_t requests = waiting_ & weighted_;
    if (requests == 0) return;
    const unsigned pick = arbiter_.pick(requests);
    ClientState& client = clients_[pick];
    if (!client.slot.ready()) return;  // one that waited longer is free a cycle later
    order_ahead(client, pick, client.slot.head(), at);
    client.slot.step(false, true, silicon_.stages_stall);
    const std::uint32_t bit = 1u << pick;
    waiting_ &= ~bit;
    if (!client.first.valid() && !client.second.valid()) holding_ &= ~bit;
    update_activity(client, bit, at);
}

/// The arbiter takes the chunk in the next cycle.
void ReadIngress::order_ahead(const ClientState& client, unsigned pick, const Chunk& chunk, Cycle at)
{
    arbiter_.grant(pick, weight_[pick]);
    command_of(client, chunk, ordered_.incoming());
    if (burst_logs_) note_command(chunk.pending, ordered_.incoming(), at + 1);
    ordered_.step(true, false, silicon_.stages_stall);
    ordered_from_ = at + 2;
    changed_ = true;
}

/// A client of which nothing can move in the next cycle but for a credit lacks it already.
void ReadIngress::update_activity(ClientState& client, std::uint32_t bit, Cycle at)
{
    client.out_of_credit = lacks_credit(client, at + 1);
    client.lacked_credit |= client.out_of_credit;
    starved_ = client.out_of_credit ? starved_ | bit : starved_ & ~bit;
    active_ = client.out_of_credit ? active_ & ~bit : active_ | bit;
    credit_due_ = next_credit();
}

/// One client has a credit again, for a chunk that does not end its request, and nothing else is in front of the limit.
bool ReadIngress::only_credit() const
{
    const bool alone = (starved_ & (starved_ - 1)) == 0 && (starved_ & weighted_) != 0 && waiting_ == 0;
    if (!alone || !direct_ || !ordered_.quiet()) return false;
    const ClientState& client = clients_[static_cast<unsigned>(std::countr_zero(starved_))];
    return stands(client) && client.slot.quiet() && client.split.left > block_;
}

/// What step_client() and pass_through() do with it.
void ReadIngress::pass_chunk(ClientState& client, Cycle at)
{
    refund(client, at);
    Chunk chunk;
    const std::uint32_t need = next_chunk(client.split, chunk);
    if (client.used + need > client.depth) {
        client.out_of_credit = true;
        credit_due_ = next_credit();
        return;
    }
    client.used += need;
    client.split.pass(chunk.context.atoms, atom_shift_);
    if (burst_logs_) note_chunk(client, chunk, at, false);
    const auto pick = static_cast<unsigned>(std::countr_zero(starved_));
    order_ahead(client, pick, chunk, at);
    update_activity(client, 1u << pick, at);
}

/// The stages in front of the splitter are full, or empty, and wait for it.
bool ReadIngress::stands(const ClientState& client)
{
    return client.first.valid() != client.first.ready() && client.second.valid() && !client.second.ready() && client.split.active;
}

/// In this cycle nothing of the client can move for want of a credit, but for a request that arrives.
bool ReadIngress::lacks_credit(const ClientState& client, Cycle at)
{
    if (!stands(client) || client.depth == 0) return false;
    return client.used >= client.depth && (at < ff::kCreditLatency || !client.link->credit.available(at - ff::kCreditLatency));
}

/// (3): true if the ordered command goes to the AR pipe.
bool ReadIngress::issue(bool contexts_full)
{
    const std::uint32_t beats = ordered_.head().context.beats;
    limit_blocks_ = outstanding_ + beats > read_limit_;
    if (limit_blocks_ && burst_logs_) burst_logs_->reads[commands_].limited = true;
    if (limit_blocks_ || contexts_full || !ar_.ready()) return false;
    outstanding_ += beats;
    ++commands_;
    return true;
}

void ReadIngress::serve_port(Cycle at, const ReadCommand* issued)
{
    const bool fired = port_.ar.fires(at);
    if (fired) port_.ar.valid = false;
    changed_ |= ar_.step(issued, fired, silicon_.stages_stall);
    if (!ar_.valid() || port_.ar.valid) return;
    const ReadCommand& command = ar_.head();
    const ReadContext& context = command.context;
    port_.ar = {{command.address, context.beats, command.client, static_cast<std::uint8_t>(context.half),
                 static_cast<std::uint8_t>(context.atoms), false},
                true,
                false,
                at + 1,
                kNever};
}

/// (2) and (1): true if the next command is in ordered_.incoming(); `granted`: whose chunk was taken for it or for the serialiser.
bool ReadIngress::order(std::uint32_t requests, std::uint32_t& granted, Cycle at)
{
    const bool room = ordered_.ready();
    bool offered = false;
    if (serialising_ && room) {
        serialise(ordered_.incoming());
        if (burst_logs_) note_command(granted_, ordered_.incoming(), at);
        serialising_ = serial_.context.atoms != 0;
        offered = true;
    }
    if (requests == 0 || (silicon_.pairs ? serialising_ : !room)) return offered;
    const unsigned pick = arbiter_.pick(requests);
    arbiter_.grant(pick, weight_[pick]);
    granted = 1u << pick;
    changed_ = true;
    const Chunk& chunk = clients_[pick].slot.head();
    command_of(clients_[pick], chunk, silicon_.pairs ? serial_ : ordered_.incoming());
    if (silicon_.pairs) granted_ = chunk.pending;
    else if (burst_logs_) note_command(chunk.pending, ordered_.incoming(), at);
    serialising_ = silicon_.pairs;
    return offered || !silicon_.pairs;
}

/// Clients that a request enters in this cycle, and those that a credit they wait for has come for.
std::uint32_t ReadIngress::with_input(Cycle at)
{
    std::uint32_t with_input = 0;
    for (std::uint32_t left = rung_ & open_; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        const Channel<ReadRequest>& request = clients_[i].link->request;
        if (request.valid(at)) with_input |= 1u << i;
        else if (belled_ && !request.offered()) rung_ &= ~(1u << i);
    }
    for (std::uint32_t left = !belled_ || credit_due_ <= at ? starved_ : 0; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        const Pulse<bool>& credit = clients_[i].link->credit;
        if (at >= ff::kCreditLatency && credit.available(at - ff::kCreditLatency)) with_input |= 1u << i;
    }
    return with_input;
}

/// Steps the clients in which something can change.
void ReadIngress::step_clients(Cycle at, std::uint32_t granted)
{
    std::uint32_t active = 0;
    const std::uint32_t stepped = active_ | granted | with_input(at);
    if (stepped == 0) return;
    for (std::uint32_t left = stepped; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        const std::uint32_t bit = 1u << i;
        ClientState& client = clients_[i];
        if (step_client(client, at, (granted & bit) != 0)) active |= bit;
        const auto set = [i, bit](std::uint32_t& mask, bool on) { mask = (mask & ~bit) | std::uint32_t{on} << i; };
        set(waiting_, client.slot.valid());
        set(holding_, client.slot.valid() || client.second.valid() || client.first.valid());
        set(starved_, client.out_of_credit);
        set(open_, client.first.ready());
    }
    active_ = active;
    changed_ |= active_ != 0;
    credit_due_ = next_credit();
}

/// Credits whose pulses have arrived; they end a lack of credit.
void ReadIngress::refund(ClientState& client, Cycle at)
{
    Pulse<bool>& credit = client.link->credit;
    while (at >= ff::kCreditLatency && credit.available(at - ff::kCreditLatency)) {
        credit.take();
        if (client.used != 0) --client.used;
        client.out_of_credit = false;
    }
}

/// One cycle of a client; true if the next one may differ by itself.
bool ReadIngress::step_client(ClientState& client, Cycle at, bool granted)
{
    // a chunk for the slot, as far as the credits go
    Split& split = client.split;
    bool accepted = false, done = false;
    client.out_of_credit = false;
    if (client.second.valid() && client.slot.ready()) {
        if (!split.active) {
            const ReadRequest& request = client.second.head();
            DLASIM_EXPECTS(request.atoms != 0);
            const std::uint64_t address = request.address.byte();
            ++client.taken;
            split = {true, address, request.atoms, 0, request.atoms, (address >> atom_shift_ & 1) != 0};
        }
        Chunk& chunk = client.slot.incoming();
        const std::uint32_t need = next_chunk(split, chunk);
        if (client.depth != 0) {
            refund(client, at);
            client.out_of_credit = client.used + need > client.depth;
        }
        client.lacked_credit |= client.out_of_credit;
        accepted = !client.out_of_credit;
        if (accepted) {
            if (client.depth != 0) client.used += need;
            split.pass(chunk.context.atoms, atom_shift_);
            done = split.left == 0;
            split.active = !done;
            if (burst_logs_) note_chunk(client, chunk, at, done);
        }
    }
    const bool slot_ready = client.slot.ready();
    client.slot.step(accepted, granted, silicon_.stages_stall);
    bool changed = accepted || client.slot.ready() != slot_ready || !client.slot.settled(silicon_.stages_stall);
    const bool room = client.second.ready();
    changed |= client.second.step(client.first.valid() ? &client.first.head() : nullptr, done, silicon_.stages_stall);

    Channel<ReadRequest>& request = client.link->request;
    const bool ready = client.first.ready(), arrives = request.valid(at);
    accepted_ |= ready && arrives;
    if (burst_logs_ && ready && arrives) client.requests.push_back({at, at != 0 && !request.ready(at - 1) && request.valid(at - 1)});
    changed |= client.first.step(arrives ? &request.item(at) : nullptr, room, silicon_.stages_stall);
    if (client.first.ready() != ready) request.set_ready(at + 1, !ready);
    return changed;
}

void ReadIngress::note_chunk(ClientState& client, Chunk& chunk, Cycle at, bool ends_request)
{
    const Entered& request = client.requests.front();
    chunk.pending = {request.at, at, {client.id, 0, request.refused, client.lacked_credit, false, 0, 0, 0}};
    client.lacked_credit = false;
    if (ends_request) client.requests.pop_front();
}

void ReadIngress::note_pending()
{
    if (!burst_logs_) return;
    if (serialising_) burst_logs_->reads.add_pending(granted_);
    for (const ClientState& client : clients_) note_pending(client, burst_logs_->reads);
}

void ReadIngress::note_pending(const ClientState& client, BurstLog& reads)
{
    for (elements::Stage<Chunk> slot = client.slot; slot.valid(); slot.step(false, true, false)) reads.add_pending(slot.head().pending);
    for (std::size_t i = 0; i < client.requests.size(); ++i) {
        const Entered& request = client.requests[i];
        reads.add_pending({request.at, request.at + BurstLog::kNotGranted, {client.id, 0, request.refused, false, false, 0, 0, 0}});
    }
}

/// The next command of a chunk that was granted.
void ReadIngress::note_command(const PendingChunk& chunk, const ReadCommand& command, Cycle at)
{
    burst_logs_->reads.grant(chunk, at, command.context.beats);
}

Cycle ReadIngress::horizon(Cycle now) const
{
    const Cycle credit = belled_ ? credit_due_ : next_credit();
    return ordered_from_ > now ? std::min(ordered_from_, credit) : credit;
}

void ReadIngress::catch_up(Cycle end)
{
    for (ClientState& client : clients_)
        if (end != 0 && client.depth != 0 && !client.out_of_credit && client.link && !client.link->request.unused())
            refund(client, end - 1);
}

Cycle ReadIngress::next_credit() const
{
    Cycle first = kNever;
    for (std::uint32_t left = starved_; left != 0; left &= left - 1) {
        const Cycle credit = clients_[static_cast<unsigned>(std::countr_zero(left))].link->credit.next();
        if (credit != kNever) first = std::min(first, credit + ff::kCreditLatency);
    }
    return first;
}

/// The chunk at the head of a request, and the credits it needs.
std::uint32_t ReadIngress::next_chunk(const Split& split, Chunk& chunk) const
{
    const auto atom = static_cast<std::uint32_t>(split.address >> atom_shift_);
    const std::uint32_t atoms = std::min(split.left, block_ - (atom & (block_ - 1)));
    const bool first = split.done == 0, last = atoms == split.left;
    chunk.address = split.address;
    chunk.context = {.beats = 0,
                     .atoms = atoms & 0xff,
                     .half = silicon_.pairs ? atom & 1 : 0,
                     .lane = split.done & 1,
                     .odd_end = last ? split.total & 1 : 0};
    if (!silicon_.pairs) return atoms;
    if (first) return last ? (atoms + 1) / 2 : atoms / 2;
    return last ? (atoms - 1 + split.odd_start) / 2 + 1 : block_ / 2;
}

void ReadIngress::command_of(const ClientState& client, const Chunk& chunk, ReadCommand& command) const
{
    ReadContext context = chunk.context;
    context.beats = (silicon_.pairs ? (context.half + context.atoms + 1u) / 2 : context.atoms) & 0xff;
    command.address = chunk.address & address_mask_ & silicon_.command_mask;
    command.client = client.id;
    command.context = context;
}

/// Takes the next command from the granted chunk; what is left has no atoms after the last one.
void ReadIngress::serialise(ReadCommand& command)
{
    command.address = serial_.address;
    command.client = serial_.client;
    ReadContext context = serial_.context, left = context;
    if (bursts_) {
        left.atoms = 0;
    } else {
        const std::uint32_t atoms = std::min<std::uint32_t>(context.atoms, 2u - context.half);
        left.atoms = (context.atoms - atoms) & 0xff;
        left.lane = (context.lane + atoms) & 1;
        left.half = 0;
        context.beats = 1;
        context.atoms = atoms & 0xff;
        context.odd_end = context.odd_end && left.atoms == 0 ? 1 : 0;
        serial_.address += ff::kFullWordBytes;
    }
    serial_.context = left;
    command.context = context;
}

}  // namespace dlasim::fabric
