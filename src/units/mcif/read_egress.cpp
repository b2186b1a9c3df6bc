#include "units/mcif/read_egress.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace dlasim::fabric {

namespace ff = facts::fabric;

namespace {
constexpr std::uint8_t kNoClient = 0xff;
}

ReadEgress::ReadEgress(const Hardware& hardware, const McifLinks& links, DbbPort& port, bool values)
    : full_(hardware.full()),
      stalls_(!hardware.full() && ff::kReadStagesStall),
      values_(values),
      atom_bytes_(hardware.memory.atom_bytes),
      port_(port)
{
    index_.fill(kNoClient);
    for (std::uint8_t id = 0; id < kClients; ++id) {
        if (!links.read[id]) continue;
        index_[id] = static_cast<std::uint8_t>(clients_.size());
        ClientState& client = clients_.emplace_back();
        client.link = links.read[id];
        client.id = id;
        client.atoms.resize(kAtoms * atom_bytes_);
    }
}

void ReadEgress::step(Cycle at)
{
    changed_ = moved_ = false;
    returned_before_ = returned_;
    const bool head = pipe_.valid();
    ClientState* receiver = head ? &clients_[pipe_.head()] : nullptr;
    const bool leaves = head && receiver->word_count < ff::kWordFifo;
    if (full_) {
        step_full(at);
    } else {
        for (ClientState& client : clients_)
            if (client.busy) step_configurable(client, at);
    }
    if (leaves) {
        ++receiver->word_count;
        receiver->busy = true;
    }
    returned_ = leaves;
    changed_ |= returned_ || returned_before_;

    // R channel
    const PortRead& beat = port_.r;
    const bool valid = beat.valid && beat.from <= at;
    std::uint8_t receiver_index = 0;
    const bool accept = valid && pipe_.ready();
    if (accept) {
        receiver_index = beat.id < index_.size() ? index_[beat.id] : kNoClient;
        if (receiver_index == kNoClient) throw MachineError("memory port: a read beat for a client that asked for none");
        ClientState& client = clients_[receiver_index];
        client.words[(client.word_head + client.word_arrived++) % client.words.size()] = arrive(client, beat.data);
        port_.r.taken = true;
        moved_ = true;
    }
    changed_ |= pipe_.step(valid ? &receiver_index : nullptr, leaves, stalls_);
}

/// Puts the atoms of a beat behind those before it and says which lanes they take.
ReadEgress::Word ReadEgress::arrive(ClientState& client, const std::uint8_t* data)
{
    ReadContext& context = client.arriving;
    if (context.beats == 0) {
        if (client.contexts.empty()) throw MachineError("memory port: a read beat that was not asked for");
        context = client.contexts.front();
        client.contexts.pop_front();
    }
    const unsigned lanes = full_ ? 2 : 1;
    const unsigned atoms = std::min<unsigned>(context.atoms, lanes - context.half);
    if (values_) {
        const std::uint8_t* from = data + context.half * atom_bytes_;
        for (unsigned i = 0; i < atoms; ++i)
            std::memcpy(&client.atoms[(client.put + i) % kAtoms * atom_bytes_], from + i * atom_bytes_, atom_bytes_);
    }
    client.put += atoms;
    context.atoms = static_cast<std::uint8_t>(context.atoms - atoms);
    --context.beats;
    Word word;
    word.lane0 = atoms == 2 || context.lane == 0;
    word.lane1 = atoms == 2 || context.lane == 1;
    word.odd = context.odd_end && context.atoms == 0;
    word.ends_context = context.beats == 0;
    context.half = 0;
    context.lane = (context.lane + atoms) & 1;
    return word;
}

void ReadEgress::step_full(Cycle at)
{
    std::uint32_t requests = 0;
    for (const ClientState& client : clients_)
        if (client.word_count != 0 && contexts_.loaded(client.id) && client.lane[0].ready() && client.lane[1].ready())
            requests |= 1u << client.id;
    ClientState* granted = nullptr;
    Word word;
    used_contexts_ = 0;
    if (requests != 0) {
        const unsigned id = arbiter_.pick(requests);
        arbiter_.grant(id, ff::kEgressWeight);
        granted = &clients_[index_[id]];
        word = granted->words[granted->word_head];
        granted->word_head = static_cast<std::uint8_t>((granted->word_head + 1) % granted->words.size());
        --granted->word_count;
        --granted->word_arrived;
        if (word.ends_context) used_contexts_ = 1u << id;
        changed_ = true;
    }
    for (ClientState& client : clients_)
        if (client.busy || &client == granted) step_lanes(client, at, &client == granted ? &word : nullptr);
}

/// (3) and the lanes in front of it.
void ReadEgress::step_lanes(ClientState& client, Cycle at, const Word* word)
{
    Channel<ReadBeat>& response = client.link->response;
    const bool leaves = client.out.valid() && response.ready(at);
    auto& [lane0, lane1] = client.lane;
    const bool room = client.out.ready();
    const bool odd = lane0.valid() && (client.odd_flags & 1);
    const bool ready0 = room && (odd || lane1.valid()), ready1 = room && lane0.valid() && !odd;
    const bool beat = lane0.valid() && ready0;
    const std::uint8_t atoms = odd ? 1 : 2;

    bool changed = client.out.step(beat ? &atoms : nullptr, leaves, stalls_);
    if (beat) {
        client.odd_flags >>= 1;
        --client.odd_count;
    }
    const bool write0 = word && word->lane0, write1 = word && word->lane1;
    if (write0) client.odd_flags |= std::uint32_t{word->odd} << client.odd_count++;
    changed |= client.lane[0].step(write0, ready0);
    changed |= client.lane[1].step(write1, ready1);

    if (leaves) {
        moved_ = true;
        if (!client.out.valid()) withdraw(client, at + 1);
    }
    if (client.out.valid() && (leaves || !client.offered)) offer(client, at + 1, client.out.head());
    changed_ |= changed;
    client.busy = changed || client.out.valid() || client.word_count != 0;
}

void ReadEgress::step_configurable(ClientState& client, Cycle at)
{
    const bool leaves = client.out_valid && client.link->response.ready(at);
    const bool next = client.word_count != 0 && (!client.out_valid || leaves);
    if (next) {
        client.word_head = static_cast<std::uint8_t>((client.word_head + 1) % client.words.size());
        --client.word_count;
        --client.word_arrived;
    }
    if (leaves || next) {
        changed_ = true;
        moved_ |= leaves;
        client.out_valid = next;
        if (next) offer(client, at + 1, 1);
        else withdraw(client, at + 1);
    }
    client.busy = client.out_valid || client.word_count != 0;
}

void ReadEgress::offer(ClientState& client, Cycle from, std::uint32_t atoms)
{
    ReadBeat beat;
    beat.atoms = atoms;
    if (values_) {
        const std::size_t bytes = atoms * atom_bytes_, start = client.got % kAtoms * atom_bytes_;
        const std::size_t first = std::min(bytes, client.atoms.size() - start);
        std::memcpy(beat.data.data(), &client.atoms[start], first);
        if (first != bytes) std::memcpy(&beat.data[first], client.atoms.data(), bytes - first);
    }
    client.got += atoms;
    client.offered = true;
    client.link->response.offer(from, beat);
}

void ReadEgress::withdraw(ClientState& client, Cycle from)
{
    client.offered = false;
    client.link->response.withdraw(from);
}

void ReadEgress::issued(const ReadCommand* command)
{
    if (command) clients_[index_[command->client]].contexts.push_back(command->context);
    if (full_) changed_ |= contexts_.step(command ? command->client : ContextQueue::kNobody, used_contexts_);
}

bool ReadEgress::empty() const
{
    if (pipe_.valid()) return false;
    return std::none_of(clients_.begin(), clients_.end(), [](const ClientState& c) { return c.busy; });
}

}  // namespace dlasim::fabric
