#include "units/mcif/read_egress.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "units/mcif/copy.h"

namespace dlasim::fabric {

namespace ff = facts::fabric;

namespace {
constexpr std::uint8_t kNoClient = 0xff;
}

ReadEgress::ReadEgress(const Hardware& hardware, const McifLinks& links, DbbPort& port, const FabricMode& mode)
    : silicon_(facts::fabric::of(hardware)), atom_bytes_(hardware.memory.atom_bytes), port_(port), direct_(mode.direct)
{
    index_.fill(kNoClient);
    for (std::uint8_t id = 0; id < kClients; ++id) {
        if (!links.read[id]) continue;
        index_[id] = static_cast<std::uint8_t>(clients_.size());
        ClientState& client = clients_.emplace_back();
        client.link = links.read[id];
        client.id = id;
        // Masks and group sizes of compressed weights decide about time.
        client.values = mode.values || (hardware.weight_compression && static_cast<Client>(id) == Client::CdmaWeight);
        client.atoms.resize(kAtoms * atom_bytes_);
        room_ |= 1u << id;
    }
}

[[gnu::flatten]] void ReadEgress::step(Cycle at)
{
    changed_ = moved_ = false;
    returned_before_ = returned_;
    used_contexts_ = 0;
    const PortRead& beat = port_.r;
    const bool valid = beat.valid && beat.from <= at;
    if (transit_ != 0 && transit_ends_ <= at) end_transits(at);
    const bool head = pipe_.valid();
    ClientState* receiver = head ? &clients_[index_[pipe_.head()]] : nullptr;
    const bool leaves = head && receiver->word_count < ff::kWordFifo;
    if (silicon_.pairs) step_full(at);
    else step_configurable(at);
    if (leaves) {
        ++receiver->word_count;
        words_ |= 1u << receiver->id;
    }
    returned_ = leaves;
    changed_ |= returned_ || returned_before_;
    if (valid || !pipe_.quiet()) receive(at, valid, leaves);
    again_ = changed_ && (returned_ || !pipe_.quiet() || (words_ | active_ | (out_ & ~transit_)) != 0);
}

/// R channel. `leaves`: the beat at the end of the pipe does.
void ReadEgress::receive(Cycle at, bool valid, bool leaves)
{
    const PortRead& beat = port_.r;
    if (valid && pipe_.ready()) {
        if (beat.id >= index_.size() || index_[beat.id] == kNoClient)
            throw MachineError("memory port: a read beat for a client without a request");
        ClientState& client = clients_[index_[beat.id]];
        port_.r.taken = true;
        ++beats_;
        moved_ = true;
        if (pass_through(client, at, beat.data)) return;
        client.words[(client.word_head + client.word_arrived++) % client.words.size()] = arrive(client, beat.data);
    }
    changed_ |= pipe_.step(valid ? &beat.id : nullptr, leaves, silicon_.stages_stall);
}

/// With one atom per beat and no data between the port and the client, the timing of the stages is known. The response is
/// offered now for the cycle in which it will be there.
bool ReadEgress::pass_through(ClientState& client, Cycle at, const std::uint8_t* data)
{
    const std::uint32_t bit = 1u << client.id;
    if (!direct_ || !pipe_.quiet() || client.word_arrived != 0 || (out_ & bit) || !client.link->response.free(at)) return false;
    client.arriving = context_of_beat(client);
    --client.arriving.beats;
    --client.arriving.atoms;
    const Cycle from = at + ff::kEgressLatency;
    ReadBeat& beat = client.link->response.offer_in_place(from);
    beat.atoms = 1;
    if (client.values) copy_bytes(beat.data.data(), data, atom_bytes_);
    client.out_from = last_transit_ends_ = from;
    if (transit_ == 0) transit_ends_ = from;
    out_ |= bit;
    transit_ |= bit;
    ahead_[ahead_[0] != kNever] = at + ff::kReturnLatency;
    changed_ = true;
    return true;
}

/// The responses that were offered ahead of time and are there are as others.
void ReadEgress::end_transits(Cycle at)
{
    transit_ends_ = kNever;
    for (std::uint32_t left = transit_; left != 0; left &= left - 1) {
        const unsigned id = static_cast<unsigned>(std::countr_zero(left));
        const Cycle from = clients_[index_[id]].out_from;
        if (from <= at) transit_ &= ~(1u << id);
        else transit_ends_ = std::min(transit_ends_, from);
    }
}

/// What is left of the command that the beat belongs to.
ReadContext ReadEgress::context_of_beat(ClientState& client)
{
    if (client.arriving.beats != 0) return client.arriving;
    if (client.contexts.empty()) throw MachineError("memory port: a read beat without a request");
    const ReadContext context = client.contexts.front();
    client.contexts.pop_front();
    return context;
}

/// Puts the atoms of a beat after the previous ones and says which lanes they take.
ReadEgress::Word ReadEgress::arrive(ClientState& client, const std::uint8_t* data)
{
    const ReadContext context = context_of_beat(client);
    const std::uint32_t lanes = silicon_.pairs ? 2 : 1;
    const std::uint32_t atoms = std::min<std::uint32_t>(context.atoms, lanes - context.half);
    if (client.values) {
        const std::uint8_t* from = data + context.half * atom_bytes_;
        const std::uint32_t at = client.put % kAtoms, unbroken = std::min(atoms, kAtoms - at);
        copy_bytes(&client.atoms[at * atom_bytes_], from, unbroken * atom_bytes_);
        if (unbroken != atoms) copy_bytes(client.atoms.data(), from + unbroken * atom_bytes_, (atoms - unbroken) * atom_bytes_);
    }
    client.put += atoms;
    const std::uint32_t left = context.atoms - atoms, beats = context.beats - 1u;
    const Word word{.lane0 = atoms == 2 || context.lane == 0,
                    .lane1 = atoms == 2 || context.lane == 1,
                    .odd = context.odd_end && left == 0,
                    .ends_context = beats == 0};
    client.arriving = {
        .beats = beats & 0xff, .atoms = left & 0xff, .half = 0, .lane = (context.lane + atoms) & 1, .odd_end = context.odd_end};
    return word;
}

ReadEgress::Word ReadEgress::pop_word(ClientState& client)
{
    const Word word = client.words[client.word_head];
    client.word_head = static_cast<std::uint8_t>((client.word_head + 1) % client.words.size());
    --client.word_arrived;
    if (--client.word_count == 0) words_ &= ~(1u << client.id);
    return word;
}

void ReadEgress::step_full(Cycle at)
{
    Word word;
    std::uint32_t grant = 0;
    if (const std::uint32_t requests = words_ & room_ & contexts_.loaded(); requests != 0) {
        const unsigned id = arbiter_.pick(requests);
        arbiter_.grant(id, ff::kEgressWeight);
        grant = 1u << id;
        word = pop_word(clients_[index_[id]]);
        if (word.ends_context) used_contexts_ = grant;
        changed_ = true;
    }
    std::uint32_t next_active = 0;
    for (std::uint32_t left = active_ | grant | out_; left != 0; left &= left - 1) {
        const unsigned id = static_cast<unsigned>(std::countr_zero(left));
        const std::uint32_t bit = 1u << id;
        ClientState& client = clients_[index_[id]];
        if (!((active_ | grant) & bit) && !client.link->response.ready(at)) continue;
        if (step_lanes(client, at, grant & bit ? &word : nullptr)) next_active |= bit;
        room_ = client.lane[0].ready() && client.lane[1].ready() ? room_ | bit : room_ & ~bit;
        out_ = client.out.valid() ? out_ | bit : out_ & ~bit;
    }
    active_ = next_active;
    changed_ |= active_ != 0;
}

/// (3) and the lanes in front of it; true if anything changed.
bool ReadEgress::step_lanes(ClientState& client, Cycle at, const Word* word)
{
    const bool was_valid = client.out.valid();
    const bool leaves = was_valid && client.link->response.ready(at);
    auto& [lane0, lane1] = client.lane;
    const bool room = client.out.ready();
    const bool odd = lane0.valid() && (client.odd_flags & 1);
    const bool ready0 = room && (odd || lane1.valid()), ready1 = room && lane0.valid() && !odd;
    const bool beat = lane0.valid() && ready0;
    const std::uint8_t atoms = odd ? 1 : 2;

    bool changed = client.out.step(beat ? &atoms : nullptr, leaves, silicon_.stages_stall);
    if (beat) {
        client.odd_flags >>= 1;
        --client.odd_count;
    }
    const bool write0 = word && word->lane0, write1 = word && word->lane1;
    if (write0) client.odd_flags |= std::uint32_t{word->odd} << client.odd_count++;
    changed |= lane0.step(write0, ready0);
    changed |= lane1.step(write1, ready1);

    moved_ |= leaves;
    if (client.out.valid()) {
        if (leaves || !was_valid) offer(client, at + 1, client.out.head());
    } else if (leaves) {
        client.link->response.withdraw(at + 1);
    }
    return changed;
}

void ReadEgress::step_configurable(Cycle at)
{
    for (std::uint32_t left = (words_ | out_) & ~transit_; left != 0; left &= left - 1) {
        const unsigned id = static_cast<unsigned>(std::countr_zero(left));
        const std::uint32_t bit = 1u << id;
        ClientState& client = clients_[index_[id]];
        const bool full = (out_ & bit) != 0;
        const bool leaves = full && client.link->response.ready(at);
        if (full && !leaves) continue;
        changed_ = true;
        moved_ |= leaves;
        if (words_ & bit) {
            pop_word(client);
            offer(client, at + 1, 1);
            out_ |= bit;
        } else {
            client.link->response.withdraw(at + 1);
            out_ &= ~bit;
        }
    }
}

void ReadEgress::offer(ClientState& client, Cycle from, std::uint32_t atoms)
{
    ReadBeat& beat = client.link->response.offer_in_place(from);
    beat.atoms = atoms;
    if (client.values) {
        const std::uint32_t at = client.got % kAtoms, unbroken = std::min(atoms, kAtoms - at);
        copy_bytes(beat.data.data(), &client.atoms[at * atom_bytes_], unbroken * atom_bytes_);
        if (unbroken != atoms) copy_bytes(&beat.data[unbroken * atom_bytes_], client.atoms.data(), (atoms - unbroken) * atom_bytes_);
        if (silicon_.pairs && atoms == 1) std::memset(&beat.data[atom_bytes_], 0, atom_bytes_);
    }
    client.got += atoms;
}

void ReadEgress::turn_contexts(const ReadCommand* command)
{
    if (command) clients_[index_[command->client]].contexts.push_back(command->context);
    if (silicon_.pairs) changed_ |= contexts_.step(command ? command->client : ContextQueue::kNobody, used_contexts_);
}

}  // namespace dlasim::fabric
