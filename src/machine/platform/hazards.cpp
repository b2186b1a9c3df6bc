#include "platform/hazards.h"

namespace dlasim {
namespace {

constexpr const char *kDbb = "DBB", *kCvsram = "CVSRAM", *kCbuf = "CBUF";

/// The units that read for the clients: read engines, where units have one of their own.
const auto kReaders = [] {
    std::array<Launched, kClients> readers{};
    for (std::size_t i = 0; i < kClients; ++i) {
        const std::string unit(unit_of_client(i));
        readers[i] = launched_called(unit + "_RDMA").value_or(*launched_called(unit));
    }
    return readers;
}();

Hazards::Finished finished_of(const Top& top)
{
    Hazards::Finished finished{};
    for (std::size_t unit = 0; unit < kLaunched; ++unit) finished[unit] = top.finished(kLaunchedNames[unit]);
    return finished;
}

}  // namespace

Hazards::Hazards(const Hardware& hardware, const Program& program, bool one_memory, const Clock& clock, Top& top)
    : Hazards(hardware, program, one_memory, clock, finished_of(top), top.cbuf().entries())
{
    top.watch(&primary_, &secondary_, &buffer_);
}

Hazards::Hazards(const Hardware& hardware, const Program& program, bool one_memory, const Clock& clock, const Finished& finished,
                 std::uint32_t cbuf_entries)
    : clock_(clock), atom_bytes_(hardware.memory.atom_bytes), operations_(hardware, program), finished_(finished)
{
    primary_.owner = secondary_.owner = buffer_.owner = this;
    primary_.shadow = &shadows_[0];
    secondary_.primary = false;
    secondary_.shadow = &shadows_[one_memory ? 0 : 1];
    buffer_.entries.resize(cbuf_entries);
}

Hazards::Cell& Hazards::Shadow::cell(std::uint64_t atom)
{
    const std::uint64_t number = atom / kPageCells;
    if (number != last) {
        std::unique_ptr<Page>& there = pages[number];
        if (!there) there = std::make_unique<Page>();
        page = there.get();
        last = number;
    }
    return (*page)[atom % kPageCells];
}

void Hazards::host(bool works)
{
    host_works_ = works;
    if (!works) ++host_steps_;
}

void Hazards::host_access(bool primary, Address address, std::uint64_t bytes, bool writes)
{
    if (!host_works_ || bytes == 0) return;
    const Port& port = primary ? primary_ : secondary_;
    const Access by{operations_.of(Launched::Host, host_steps_), kHostClient, clock_.now()};
    const std::uint64_t first = address.byte() / atom_bytes_, last = (address.byte() + bytes - 1) / atom_bytes_;
    for (std::uint64_t atom = first; atom <= last; ++atom) writes ? write(port, atom, by) : read(port, atom, by);
}

/// The operation that a read unit is at.
Hazards::Number Hazards::reader(Client client)
{
    if (client == Client::Bdma) return operations_.of_bdma(bdma_read_++);
    const Launched unit = kReaders[static_cast<std::size_t>(client)];
    const std::uint32_t* finished = finished_[static_cast<std::size_t>(unit)];
    return operations_.of(unit, finished ? *finished : 0);
}

void Hazards::Port::read(std::uint32_t client, Address address, std::uint32_t bytes, Cycle at)
{
    const std::uint64_t end = (address + bytes).byte() / owner->atom_bytes_;
    for (std::uint64_t atom = address.byte() / owner->atom_bytes_; atom < end; ++atom)
        owner->read(*this, atom, {owner->reader(static_cast<Client>(client)), static_cast<std::uint8_t>(client), at});
}

void Hazards::Port::written(std::uint32_t client, Address address, std::uint32_t bytes, Cycle at)
{
    const auto who = static_cast<Client>(client);
    const std::uint64_t end = (address + bytes).byte() / owner->atom_bytes_;
    for (std::uint64_t atom = address.byte() / owner->atom_bytes_; atom < end; ++atom) {
        const Number operation = who == Client::Bdma ? owner->operations_.of_bdma(owner->bdma_written_++)
                                                     : owner->operations_.writer(who, primary, ended_[client % kClients]);
        owner->write(*this, atom, {operation, static_cast<std::uint8_t>(client), at});
    }
}

void Hazards::read(const Port& port, std::uint64_t atom, const Access& by)
{
    ++report_.accesses;
    Cell& cell = port.shadow->cell(atom);
    const Access writer = cell.writer();
    const auto find = [&](HazardKind kind) { found(kind, port.primary ? kDbb : kCvsram, atom * atom_bytes_, atom_bytes_, writer, by); };
    if (writer.operation > by.operation) find(HazardKind::OverwrittenEarly);
    // descriptors of one launch of BDMA may well read what those before them wrote, and so may the host
    else if (writer.operation == by.operation && writer.operation != Operations::kNobody &&
             by.client != static_cast<std::uint8_t>(Client::Bdma) && by.client != kHostClient)
        find(HazardKind::ReadsItself);
    if (by.operation >= cell.reader().operation) cell.read(by);
}

void Hazards::write(const Port& port, std::uint64_t atom, const Access& by)
{
    ++report_.accesses;
    Cell& cell = port.shadow->cell(atom);
    const Access reader = cell.reader(), writer = cell.writer();
    const auto find = [&](HazardKind kind, const Access& before) {
        found(kind, port.primary ? kDbb : kCvsram, atom * atom_bytes_, atom_bytes_, before, by);
    };
    if (reader.operation > by.operation) find(HazardKind::ReadBeforeWritten, reader);
    else if (writer.operation > by.operation) find(HazardKind::WrittenOutOfOrder, writer);
    cell.write(by);
}

void Hazards::Buffer::find_unwritten()
{
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
        const auto& [reader, writer] = entries[i];
        // data are read beyond the end of a line too, for lanes that have no weights
        if (reader.kind != Held::Weights && reader.kind != Held::Masks) continue;
        if (writer.kind == reader.kind ? writer.turn < reader.turn : writer.by.operation < reader.by.operation)
            owner->found(HazardKind::NeverWritten, kCbuf, i, 1, reader.by, writer.by);
    }
}

void Hazards::Buffer::restarted()
{
    find_unwritten();
    for (Entry& entry : entries) {
        entry.reader.kind = Held::None;
        entry.reader.turn = entry.writer.turn = 0;
    }
}

void Hazards::Buffer::written(Held kind, std::uint32_t entry, std::uint64_t turn)
{
    ++owner->report_.accesses;
    Entry& there = entries[entry];
    const std::uint32_t* finished = owner->finished_[static_cast<std::size_t>(Launched::Cdma)];
    const Access by{owner->operations_.of(Launched::Cdma, *finished), kCdmaClient, owner->clock_.now()};
    const Side& reader = there.reader;
    const bool late = reader.kind == kind && (kind == Held::Data ? reader.by.operation == by.operation : reader.turn >= turn);
    if (reader.by.operation > by.operation || late) owner->found(HazardKind::ReadBeforeWritten, kCbuf, entry, 1, reader.by, by);
    there.writer = {by, kind, turn};
}

void Hazards::Buffer::read(Held kind, std::uint32_t entry, std::uint64_t turn)
{
    ++owner->report_.accesses;
    Entry& there = entries[entry];
    const std::uint32_t* finished = owner->finished_[static_cast<std::size_t>(Launched::Csc)];
    const Access by{owner->operations_.of(Launched::Csc, *finished), kCscClient, owner->clock_.now()};
    const Side& writer = there.writer;
    const bool other = writer.kind != kind && writer.by.operation == by.operation && writer.kind != Held::None;
    const bool early = writer.kind == kind && kind != Held::Data && writer.turn > turn;
    if (writer.by.operation > by.operation || other || early) owner->found(HazardKind::OverwrittenEarly, kCbuf, entry, 1, writer.by, by);
    there.reader = {by, kind, turn};
}

void Hazards::found(HazardKind kind, const char* where, std::uint64_t address, std::uint64_t amount, const Access& before,
                    const Access& after)
{
    ++report_.found;
    const auto known = known_.find({kind, where, before.operation, before.client, after.operation, after.client});
    if (known != known_.end()) {
        report_.list[known->second].amount += amount;
        return;
    }
    if (report_.list.size() == kMaxHazards) return;
    known_.emplace(std::tuple{kind, where, before.operation, before.client, after.operation, after.client}, report_.list.size());
    report_.list.push_back({kind, where, address, amount, named(before), named(after)});
}

HazardAccess Hazards::named(const Access& access) const
{
    HazardAccess made;
    made.operation = access.operation;
    made.cycle = static_cast<std::int64_t>(access.at);
    if (access.operation != Operations::kNobody) {
        made.entry = operations_[access.operation].entry;
        made.units = operations_.units(access.operation);
    }
    made.client = access.client < kClients       ? kClientNames[access.client]
                  : access.client == kHostClient ? "host"
                  : access.client == kCdmaClient ? "CDMA"
                                                 : "CSC";
    return made;
}

HazardReport Hazards::report(Cycle t0)
{
    buffer_.find_unwritten();
    HazardReport report = report_;
    for (Hazard& hazard : report.list)
        for (HazardAccess* access : {&hazard.before, &hazard.after}) access->cycle -= static_cast<std::int64_t>(t0);
    return report;
}

}  // namespace dlasim
