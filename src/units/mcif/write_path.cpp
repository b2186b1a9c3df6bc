#include "units/mcif/write_path.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/expects.h"
#include "units/mcif/copy.h"

namespace dlasim::fabric {

namespace ff = facts::fabric;

WritePath::WritePath(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, bool values)
    : silicon_(ff::of(hardware)),
      bursts_(side == MemorySide::Secondary),
      values_(values),
      atom_bytes_(hardware.memory.atom_bytes),
      atom_shift_(static_cast<std::uint32_t>(std::countr_zero(atom_bytes_))),
      block_(ff::block_atoms(hardware, side == MemorySide::Primary ? hardware.memory.primary : hardware.memory.secondary)),
      address_mask_(address_mask(hardware)),
      port_(port)
{
    index_.fill(kNobody);
    clients_.reserve(kWriteClients);  // doorbells point at them
    for (std::uint8_t id = 0; id < kWriteClients; ++id) {
        if (!links.write[id]) continue;
        index_[id] = static_cast<std::uint8_t>(clients_.size());
        ClientState& client = clients_.emplace_back();
        client.link = links.write[id];
        client.id = id;
        client.atoms.resize(kAtoms * atom_bytes_);
    }
    all_ = (1u << clients_.size()) - 1;
}

void WritePath::apply(const FabricSettings& settings)
{
    limit_ = settings.write_limit;
    weighted_ = 0;
    for (unsigned i = 0; i < clients_.size(); ++i) {
        weight_[i] = settings.write_weight[clients_[i].id];
        if (weight_[i] != 0) weighted_ |= 1u << i;
    }
    changed_ = true;
}

void WritePath::hang_doorbells()
{
    belled_ = true;
    rung_ = 0;
    for (unsigned i = 0; i < clients_.size(); ++i) {
        Channel<WritePacket>& request = clients_[i].link->request;
        clients_[i].bell.hang(request.consumer, rung_, i);
        request.consumer = &clients_[i].bell;
        if (request.offered()) rung_ |= 1u << i;
    }
}

void WritePath::step(Cycle at)
{
    moved_ = false;
    const bool answered = port_.b.valid && port_.b.from <= at;
    if (!changed_ && (rung_ & all_) == 0 && !answered && !port_.aw.fires(at) && !port_.w.fires(at)) return;
    changed_ = false;

    const bool converts = convert(at);
    accept_response(at);
    const bool command_moves = converts && data_.first;
    const bool command_room = !command_valid_ || command_moves, data_room = !data_valid_ || converts;
    if (command_moves) command_valid_ = false;
    if (converts) data_valid_ = false;

    Grant grant;
    if (silicon_.pairs) {
        const bool splitter_full = split_count_ > ff::kWriteSplitterBusy;
        split(command_room, data_room);
        grant = arbitrate(!splitting_ && !splitter_full, true);
    } else {
        grant = arbitrate(command_room && data_room, data_room);
    }
    if (grant.client != kNobody) move(grant);
    step_clients(at, grant);
}

/// Steps the clients in which something can change.
void WritePath::step_clients(Cycle at, const Grant& grant)
{
    const std::uint32_t granted = grant.client != kNobody ? 1u << grant.client : 0;
    std::uint32_t next_active = 0;
    for (std::uint32_t left = active_ | granted | (rung_ & all_); left != 0; left &= left - 1) {
        const unsigned i = static_cast<unsigned>(std::countr_zero(left));
        const std::uint32_t bit = 1u << i;
        ClientState& client = clients_[i];
        const bool arrives = (rung_ & bit) && client.first.ready() && client.link->request.valid(at);
        if (arrives || ((active_ | granted) & bit)) {
            if (step_client(client, at, (granted & bit) != 0, (granted & bit) && grant.slot_freed)) next_active |= bit;
            note(client, bit);
        }
        if (belled_ && !client.link->request.offered()) rung_ &= ~bit;
    }
    active_ = next_active;
    changed_ |= active_ != 0;
}

/// What the arbiter and empty() must know of a client after its cycle.
void WritePath::note(ClientState& client, std::uint32_t bit)
{
    const auto set = [bit](std::uint32_t& mask, bool on) { mask = on ? mask | bit : mask & ~bit; };
    const Chunk* chunk = slot_head(client);
    set(complete_, chunk && client.mask_count >= chunk->beats);
    set(holding_, client.loaded || chunk || client.mask_count != 0 || client.first.valid() || client.second.valid() ||
                      (silicon_.pairs ? !client.lanes[0].empty() || !client.lanes[1].empty() : client.data.valid()));
}

bool WritePath::waits_for_data() const
{
    if (holding_ == 0 || splitting_ || split_count_ != 0 || command_valid_ || data_valid_ || aw_.valid() || w_.valid() || b_valid_ ||
        b_pipe_.valid())
        return false;
    for (const ClientState& client : clients_) {
        if (client.mask_count != 0 || (silicon_.pairs ? !client.lanes[0].empty() || !client.lanes[1].empty() : client.data.valid()))
            return false;
        // without data a request ahead keeps what follows it waiting, whether that is a command or not
        if (client.first.valid() && client.second.valid() && !client.loaded) return false;
    }
    return true;
}

/// (3): moves a beat, with its command if it is the first of one, and serves the AW and W channels.
bool WritePath::convert(Cycle at)
{
    bool moves = data_valid_ && w_.ready();
    int pushed = ContextQueue::kNobody;
    if (moves && data_.first) {
        moves = command_valid_ && aw_.ready() && !contexts_.full() && outstanding_ + command_.beats - returned_ <= limit_;
        if (moves) {
            pushed = command_.client;
            outstanding_ += command_.beats;
            clients_[index_[command_.client]].contexts.push_back({command_.beats, command_.ack});
        }
    }
    const bool command_moves = moves && data_.first;

    commands_ += command_moves;
    beats_ += moves;

    const bool aw_fires = port_.aw.fires(at), w_fires = port_.w.fires(at);
    if (aw_fires) port_.aw.valid = false;
    if (w_fires) port_.w.valid = false;
    moved_ |= aw_fires || w_fires;
    changed_ |= aw_.step(command_moves ? &command_ : nullptr, aw_fires, silicon_.stages_stall);
    changed_ |= w_.step(moves ? &data_ : nullptr, w_fires, silicon_.stages_stall);
    if (aw_.valid() && !port_.aw.valid) {
        const Command& head = aw_.head();
        port_.aw = {{head.address, head.beats, head.client}, true, false, at + 1, kNever};
    }
    if (w_.valid() && !port_.w.valid) offer_data(at + 1);
    match_response(at, pushed);
    return moves;
}

/// (4): the response in the register, when its context is there.
void WritePath::match_response(Cycle at, int pushed)
{
    outstanding_ -= returned_;
    changed_ |= returned_ != 0;
    returned_ = 0;
    response_taken_ = false;
    std::uint32_t wanted = 0;
    if (silicon_.pairs ? b_valid_ : b_pipe_.valid()) {
        const std::uint8_t id = silicon_.pairs ? b_id_ : b_pipe_.head();
        wanted = 1u << id;
        if (contexts_.available(id, pushed)) {
            ClientState& client = clients_[index_[id]];
            const Context context = client.contexts.front();
            client.contexts.pop_front();
            returned_ = context.beats;
            if (context.ack) client.link->complete.put(at + ff::kCompleteLatency, true);
            response_taken_ = changed_ = true;
        }
    }
    if (pushed != ContextQueue::kNobody || wanted != 0 || !contexts_.quiet()) changed_ |= contexts_.step(pushed, wanted);
}

void WritePath::accept_response(Cycle at)
{
    const bool valid = port_.b.valid && port_.b.from <= at;
    std::uint8_t id = port_.b.id;
    if (valid && (id >= index_.size() || index_[id] == kNobody))
        throw MachineError("memory port: a write response for a client that wrote nothing");
    bool taken;
    if (silicon_.pairs) {
        taken = valid && (!b_valid_ || response_taken_);
        if (response_taken_) b_valid_ = false;
        if (taken) {
            b_valid_ = true;
            b_id_ = id;
            changed_ = true;
        }
    } else {
        taken = valid && b_pipe_.ready();
        changed_ |= b_pipe_.step(valid ? &id : nullptr, response_taken_, silicon_.stages_stall);
    }
    if (taken) {
        port_.b.taken = true;
        moved_ = true;
    }
}

const WritePath::Chunk* WritePath::slot_head(const ClientState& client) const
{
    if (silicon_.pairs) return client.slot.valid() ? &client.slot.head() : nullptr;
    return client.slot_valid ? &client.slot_chunk : nullptr;
}

/// (1): the client one beat of which moves in this cycle.
WritePath::Grant WritePath::arbitrate(bool room, bool data_room) const
{
    if (locked_ != kNobody) {
        const bool moves = clients_[locked_].mask_count != 0 && data_room;
        return moves ? Grant{locked_, locked_beats_ == 1} : Grant{};
    }
    const std::uint32_t requests = complete_ & weighted_;
    if (!room || requests == 0) return {};
    const unsigned pick = arbiter_.pick(requests);
    return {static_cast<std::uint8_t>(pick), slot_head(clients_[pick])->beats == 1};
}

void WritePath::move(const Grant& grant)
{
    ClientState& client = clients_[grant.client];
    const Chunk& chunk = *slot_head(client);
    const bool first = locked_ == kNobody;
    if (first) {
        arbiter_.grant(grant.client, weight_[grant.client]);
        locked_beats_ = chunk.beats;
    }
    --locked_beats_;
    locked_ = locked_beats_ != 0 ? grant.client : kNobody;
    const Beat beat{grant.client, client.masks[client.mask_head], first, grant.slot_freed};
    client.mask_head = static_cast<std::uint8_t>((client.mask_head + 1) % client.masks.size());
    --client.mask_count;
    const Command command{chunk.address, client.id, chunk.beats, chunk.ack};
    if (silicon_.pairs) {
        split_beats_[(split_head_ + split_count_++) % kSplitFifo] = beat;
        if (first) {
            split_ = command;
            if (!bursts_) split_.address &= ~std::uint64_t{ff::kFullWordBytes - 1};
            split_left_ = chunk.beats;
            splitting_ = true;
        }
    } else {
        if (first) to_converter(command);
        to_converter(beat);
    }
    changed_ = true;
}

/// (2): MCIF gives every beat of the chunk a command of its own. In CVIF the burst's command goes when there is room
/// for it and the beats go when there is room for them: two stages that know nothing of each other.
void WritePath::split(bool command_room, bool data_room)
{
    if (bursts_ && splitting_ && command_room) {
        to_converter(split_);
        splitting_ = false;
    }
    if (split_count_ == 0 || !data_room) return;
    Beat beat = split_beats_[split_head_];
    if (!bursts_) {
        if (!command_room) return;
        beat.first = beat.last = true;
        --split_left_;
        Command command = split_;
        command.beats = 1;
        command.ack = split_.ack && split_left_ == 0;
        split_.address += ff::kFullWordBytes;
        splitting_ = split_left_ != 0;
        to_converter(command);
    }
    split_head_ = static_cast<std::uint8_t>((split_head_ + 1) % kSplitFifo);
    --split_count_;
    to_converter(beat);
}

void WritePath::to_converter(const Command& command)
{
    command_ = command;
    command_valid_ = changed_ = true;
}

void WritePath::to_converter(const Beat& beat)
{
    data_ = beat;
    data_valid_ = changed_ = true;
}

/// One cycle of a client; true if anything changed.
bool WritePath::step_client(ClientState& client, Cycle at, bool popped, bool slot_freed)
{
    const std::uint32_t waiting = client.mask_count + popped;
    const bool slot_room = silicon_.pairs ? client.slot.ready() : !client.slot_valid || slot_freed;
    bool changed = popped;

    // the next chunk, or the next memory beat of the current one
    const bool emits_chunk = client.loaded && !client.in_data && slot_room;
    const NextBeat beat = client.loaded && client.in_data && waiting < ff::kWriteDataFifo ? next_beat(client) : NextBeat{};
    const bool request_done = beat.complete && client.beats_left == 1 && client.left == 0;
    Chunk chunk;
    if (emits_chunk) {
        chunk = next_chunk(client);
        client.chunk = chunk;
        client.beats_left = chunk.beats;
        client.atoms_left = chunk.atoms;
        client.address += std::uint64_t{chunk.atoms} << atom_shift_;
        client.left -= chunk.atoms;
        client.in_data = client.first_beat = true;
    } else if (beat.complete) {
        client.masks[(client.mask_head + client.mask_count++) % client.masks.size()] = beat.mask;
        client.lane = (client.lane + beat.atoms) & 1;
        client.atoms_left = static_cast<std::uint8_t>(client.atoms_left - beat.atoms);
        client.first_beat = false;
        if (--client.beats_left == 0) client.in_data = false;
        if (request_done) client.loaded = false;
    }
    changed |= emits_chunk || beat.complete;
    if (silicon_.pairs) {
        changed |= client.slot.step(emits_chunk ? &chunk : nullptr, slot_freed, false);
    } else {
        if (slot_freed) client.slot_valid = false;
        if (emits_chunk) {
            client.slot_chunk = chunk;
            client.slot_valid = true;
        }
    }

    // the packet at the head of the second stage
    const bool head = client.second.valid();
    const Packet packet = head ? client.second.head() : Packet{};
    const bool data_head = head && !packet.command;
    bool taken = false;
    if (head && packet.command) {
        taken = !client.loaded;
        if (taken) {
            client.loaded = true;
            client.in_data = false;
            client.address = packet.address;
            client.left = packet.atoms;
            client.ack = packet.ack;
            client.lane = 0;
        }
    }
    if (silicon_.pairs) {
        const bool ready[2]{client.lanes[0].ready(), client.lanes[1].ready()};
        taken |= data_head && ready[0] && ready[1];
        for (unsigned i = 0; i < 2; ++i)
            changed |= client.lanes[i].step(data_head && packet.atoms > i && ready[1 - i], beat.reads >> i & 1);
    } else {
        const bool item = true;
        taken |= data_head && client.data.ready();
        changed |= client.data.step(data_head && client.data.ready() ? &item : nullptr, beat.complete, silicon_.stages_stall);
    }
    const bool room = client.second.ready();
    changed |= client.second.step(client.first.valid() ? &client.first.head() : nullptr, taken, silicon_.stages_stall);

    Channel<WritePacket>& request = client.link->request;
    const bool arrives = request.valid(at), ready = client.first.ready();
    Packet arrived;
    if (arrives) {
        const WritePacket& from = request.item(at);
        arrived = {from.address, from.atoms, from.command, from.require_ack};
        DLASIM_EXPECTS(from.atoms != 0);
        if (ready) {
            moved_ = true;
            if (!from.command) receive(client, from);
        }
    }
    changed |= client.first.step(arrives ? &arrived : nullptr, room, silicon_.stages_stall);
    if (client.first.ready() != ready) request.set_ready(at + 1, !ready);

    return changed;
}

WritePath::NextBeat WritePath::next_beat(const ClientState& client) const
{
    if (!silicon_.pairs) return {client.data.valid(), 1, 1, 0};
    const bool upper = client.first_beat && (client.chunk.address >> atom_shift_ & 1);
    const unsigned lane = client.lane;
    if (upper || client.atoms_left == 1)
        return {client.lanes[lane].valid(), 1, static_cast<std::uint8_t>(upper ? 2 : 1), static_cast<std::uint8_t>(1u << lane)};
    // a lane's read ready depends on the other one only
    const bool here = client.lanes[lane].valid(), there = client.lanes[1 - lane].valid();
    return {here && there, 2, 3, static_cast<std::uint8_t>(there << lane | here << (1 - lane))};
}

WritePath::Chunk WritePath::next_chunk(const ClientState& client) const
{
    const auto atom = static_cast<std::uint32_t>(client.address >> atom_shift_);
    const std::uint32_t atoms = std::min(client.left, block_ - atom % block_);
    const std::uint32_t beats = silicon_.pairs ? ((atom & 1) + atoms + 1) / 2 : atoms;
    return {client.address & address_mask_, static_cast<std::uint8_t>(atoms), static_cast<std::uint8_t>(beats),
            client.ack && atoms == client.left};
}

void WritePath::receive(ClientState& client, const WritePacket& packet)
{
    if (values_) {
        const std::uint32_t at = client.put % kAtoms, unbroken = std::min(packet.atoms, kAtoms - at);
        copy_bytes(&client.atoms[at * atom_bytes_], packet.data.data(), unbroken * atom_bytes_);
        if (unbroken != packet.atoms)
            copy_bytes(client.atoms.data(), &packet.data[unbroken * atom_bytes_], (packet.atoms - unbroken) * atom_bytes_);
    }
    client.put += packet.atoms;
}

void WritePath::offer_data(Cycle from)
{
    const Beat& beat = w_.head();
    ClientState& client = clients_[beat.client];
    PortOffer<PortWriteBeat>& w = port_.w;
    w.item.id = client.id;
    w.item.atoms = beat.mask;
    w.item.last = beat.last;
    for (unsigned i = 0; beat.mask >> i != 0; ++i) {
        if (!(beat.mask >> i & 1)) continue;
        if (values_) copy_bytes(&w.item.data[i * atom_bytes_], &client.atoms[client.got % kAtoms * atom_bytes_], atom_bytes_);
        ++client.got;
    }
    w.valid = true;
    w.seen = false;
    w.from = from;
    w.accept = kNever;
}

}  // namespace dlasim::fabric
