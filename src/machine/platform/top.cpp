#include "platform/top.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <string_view>

#include "base/error.h"
#include "facts/csb.h"
#include "facts/optional_units.h"
#include "platform/declared.h"
#include "units/cacc/core.h"
#include "units/cdma/core.h"
#include "units/cdp/core.h"
#include "units/cmac/core.h"
#include "units/csb/passive.h"
#include "units/csc/core.h"
#include "units/pdp/core.h"
#include "units/sdp/core.h"

namespace dlasim {

struct Top::Clients {
    std::array<ReadLink, kClients> read;
    std::array<WriteLink, kWriteClients> write;
};

struct Top::Links {
    explicit Links(const Hardware& hardware) : cbuf(hardware.cbuf)
    {
        if (hardware.memory.has_secondary) secondary = std::make_unique<Clients>();
    }

    std::vector<std::unique_ptr<CsbLink>> csb;
    std::vector<std::pair<std::string_view, CsbLink*>> of;  // by unit
    std::unique_ptr<Clients> primary = std::make_unique<Clients>(), secondary;
    CdmaCscLink cdma_csc;
    PatientPulse<Stripe> stripes_a, stripes_b;
    PatientPulse<Sums> sums_a, sums_b;
    Channel<SumBeat> cacc_sdp;
    Channel<PoolBeat> sdp_pdp;
    Pulse<std::uint32_t> credit;
    std::deque<Pulse<std::uint32_t>> interrupts;  // of the units, in the order in which they are built
    Cbuf cbuf;
};

namespace {

constexpr std::size_t index(Client client) { return static_cast<std::size_t>(client); }

/// Units whose window a configuration decodes. csb.md 1.2.
bool decoded(const Hardware& hardware, std::string_view unit)
{
    if (unit == "CVIF") return hardware.memory.has_secondary;
    if (unit == "GEC") return facts::csb::of(hardware).gec;
    return !facts::missing_unit(hardware, unit);
}

}  // namespace

Top::Top(const sc_core::sc_module_name& name, const Hardware& hardware, Clock& clock, const TopOptions& options)
    : sc_module(name), hardware_(hardware), clock_(clock), options_(options)
{
    if (hardware.memory.has_secondary) cvsram = std::make_unique<tlm::tlm_initiator_socket<512>>("cvsram");
    build();
    csb_master_->fail_with(failures_);
    csb_master_->in_reset = [this] { return (in_reset && in_reset()) || held_; };
    csb.bind(csb_master_->socket);
    mcif_->memory.bind(dbb);
    if (cvif_) cvif_->memory.bind(*cvsram);
    glb_->interrupt.bind(interrupt);

    units_ = {mcif_.get()};
    if (cvif_) units_.push_back(cvif_.get());
    for (const auto& unit : adapters_) units_.push_back(unit.get());
    units_.push_back(glb_.get());
    for (UnitModule* unit : units_) unit->failures = &failures_;
    if (cfgrom_) cfgrom_->failures = &failures_;
}

/// Links and cores as after power-on; the first time their modules too, then into these.
class Top::Builder {
public:
    explicit Builder(Top& top) : top_(top), links_(*top.links_) {}

    /// Units without a data path here store their registers.
    void register_windows();
    void memory_interfaces();
    void convolution();
    void post_processing();
    void memory_to_memory();
    void interrupts();

private:
    CsbLink& window(std::string_view unit_name) const
    {
        for (const CsbMaster::Window& w : windows_)
            if (w.unit->name == unit_name) return *w.link;
        throw InternalError("a unit that is built has no register window: " + std::string(unit_name));
    }
    Pulse<std::uint32_t>& interrupt() const { return links_.interrupts.emplace_back(); }
    template <class Make, class Ports, class... Rest>
    void unit(const char* name, Make make, Ports&& ports, Rest... rest)
    {
        std::unique_ptr<Core> core = make(top_.hardware_, ports, rest...);
        if (UnitAdapter* there = top_.adapter(name)) there->renew(std::move(core), ports);
        else top_.adapters_.push_back(std::make_unique<UnitAdapter>(name, top_.clock_, top_.options_.stepping, std::move(core), ports));
    }
    void memory_interface(std::unique_ptr<Mcif>& module, const char* unit, MemorySide side, Clients& clients)
    {
        McifLinks ports{.csb = window(unit)};
        for (std::size_t i = 0; i < kClients; ++i) ports.read[i] = &clients.read[i];
        for (std::size_t i = 0; i < kWriteClients; ++i) ports.write[i] = &clients.write[i];
        if (module) module->renew(top_.hardware_, ports);
        else module = std::make_unique<Mcif>(unit, top_.clock_, top_.options_.stepping, top_.hardware_, side, ports, top_.options_.values);
    }
    // Null where there is no such side.
    static ReadLink* read(const std::unique_ptr<Clients>& side, Client client) { return side ? &side->read[index(client)] : nullptr; }
    static WriteLink* write(const std::unique_ptr<Clients>& side, Client client) { return side ? &side->write[index(client)] : nullptr; }

    Top& top_;
    Links& links_;
    std::vector<CsbMaster::Window> windows_;
};

void Top::Builder::register_windows()
{
    const Hardware& hardware = top_.hardware_;
    for (const UnitRegisters& unit : register_units(hardware)) {
        if (!decoded(hardware, unit.name)) continue;
        if (unit.name == "GEC") {
            windows_.push_back({&unit, nullptr, 0});
            continue;
        }
        links_.csb.push_back(std::make_unique<CsbLink>());
        CsbLink& link = *links_.csb.back();
        links_.of.emplace_back(unit.name, &link);
        const bool retimed = unit.name == "CMAC_A" || unit.name == "CMAC_B" || unit.name == "CACC";
        windows_.push_back({&unit, &link, retimed ? facts::csb::of(hardware).retiming : 0});
        if (unit.name != "CFGROM") continue;
        auto core = std::make_unique<PassiveCore>(unit, link);
        if (top_.cfgrom_) top_.cfgrom_->renew(std::move(core), link);
        else top_.cfgrom_ = std::make_unique<UnitAdapter>("CFGROM", top_.clock_, top_.options_.stepping, std::move(core), link);
    }
    if (top_.csb_master_) top_.csb_master_->renew(windows_);
    else top_.csb_master_ = std::make_unique<CsbMaster>("CSB", top_.clock_, windows_);
}

void Top::Builder::memory_interfaces()
{
    memory_interface(top_.mcif_, "MCIF", MemorySide::Primary, *links_.primary);
    if (links_.secondary) memory_interface(top_.cvif_, "CVIF", MemorySide::Secondary, *links_.secondary);
}

void Top::Builder::convolution()
{
    const bool values = top_.options_.values;
    unit("CDMA", make_cdma,
         CdmaPorts{window("CDMA"), *read(links_.primary, Client::CdmaData), *read(links_.primary, Client::CdmaWeight),
                   read(links_.secondary, Client::CdmaData), read(links_.secondary, Client::CdmaWeight), links_.cdma_csc, links_.cbuf,
                   interrupt()},
         values, top_.options_.flushed);
    unit("CSC", make_csc, CscPorts{window("CSC"), links_.cdma_csc, links_.cbuf, links_.stripes_a, links_.stripes_b, links_.credit}, values);
    unit("CMAC_A", make_cmac, CmacPorts{window("CMAC_A"), links_.stripes_a, links_.sums_a}, MacHalf::A);
    unit("CMAC_B", make_cmac, CmacPorts{window("CMAC_B"), links_.stripes_b, links_.sums_b}, MacHalf::B);
    unit("CACC", make_cacc, CaccPorts{window("CACC"), links_.sums_a, links_.sums_b, links_.cacc_sdp, links_.credit, interrupt()}, values);
}

void Top::Builder::post_processing()
{
    const bool values = top_.options_.values;
    constexpr Client kSdpReads[] = {Client::Sdp, Client::SdpBs, Client::SdpBn, Client::SdpEw};
    SdpPorts sdp{window("SDP"),
                 window("SDP_RDMA"),
                 links_.cacc_sdp,
                 *write(links_.primary, Client::Sdp),
                 write(links_.secondary, Client::Sdp),
                 {},
                 {},
                 interrupt(),
                 &links_.sdp_pdp};
    for (std::size_t i = 0; i < 4; ++i) {
        if (kSdpReads[i] == Client::SdpEw && !top_.hardware_.sdp.has_ew) continue;
        sdp.read_mc[i] = read(links_.primary, kSdpReads[i]);
        sdp.read_cv[i] = read(links_.secondary, kSdpReads[i]);
    }
    unit("SDP", make_sdp, sdp, values);
    unit(
        "PDP", make_pdp,
        PdpPorts{window("PDP"), window("PDP_RDMA"), links_.sdp_pdp, *read(links_.primary, Client::Pdp), read(links_.secondary, Client::Pdp),
                 *write(links_.primary, Client::Pdp), write(links_.secondary, Client::Pdp), interrupt()},
        values);
}

void Top::Builder::memory_to_memory()
{
    unit("CDP", make_cdp,
         CdpPorts{window("CDP"), window("CDP_RDMA"), *read(links_.primary, Client::Cdp), read(links_.secondary, Client::Cdp),
                  *write(links_.primary, Client::Cdp), write(links_.secondary, Client::Cdp), interrupt()},
         top_.options_.values);
    for (const auto& [optional, make] : transfer_units()) {
        if (!(top_.hardware_.*optional.there)) continue;
        const Client client = optional.client;
        unit(std::string(optional.window).c_str(), make,
             TransferPorts{window(optional.window), *read(links_.primary, client), *read(links_.secondary, client),
                           *write(links_.primary, client), *write(links_.secondary, client), interrupt()});
    }
}

void Top::Builder::interrupts()
{
    std::vector<Pulse<std::uint32_t>*> interrupts;
    for (Pulse<std::uint32_t>& each : links_.interrupts) interrupts.push_back(&each);
    if (top_.glb_) top_.glb_->renew(top_.hardware_, window("GLB"), interrupts);
    else top_.glb_ = std::make_unique<Glb>("GLB", top_.clock_, top_.options_.stepping, top_.hardware_, window("GLB"), interrupts);
}

void Top::build()
{
    const auto before = std::exchange(links_, std::make_unique<Links>(hardware_));  // while the cores before are there
    Builder builder(*this);
    builder.register_windows();
    builder.memory_interfaces();
    builder.convolution();
    builder.post_processing();
    builder.memory_to_memory();
    builder.interrupts();
    connect(*links_->primary, *mcif_);
    if (links_->secondary) connect(*links_->secondary, *cvif_);
    if (options_.events) {
        mcif_->traffic().record_commands(options_.all_commands);
        if (cvif_) cvif_->traffic().record_commands(options_.all_commands);
    }
    links_->cacc_sdp.connect(adapter("CACC"), adapter("SDP"));
    links_->sdp_pdp.connect(adapter("SDP"), adapter("PDP"));
}

void Top::hold()
{
    if (std::exchange(held_, true)) return;
    clock_.hold();
    failures_.forget();
    build();
    glb_->drop();
    for (Mcif* side : {mcif_.get(), cvif_.get()})
        if (side) side->connect_doorbells();
    // Exceptions of a memory are reported once all memories have been called.
    std::vector<std::pair<const char*, std::string>> thrown;
    std::exception_ptr theirs;
    for (Mcif* side : {mcif_.get(), cvif_.get()}) {
        if (!side) continue;
        try {
            side->end_dropped();
        } catch (const sc_core::sc_report&) {
            theirs = std::current_exception();
        } catch (const sc_core::sc_unwind_exception&) {
            theirs = std::current_exception();
        } catch (const std::exception& error) {
            thrown.emplace_back(side->basename(), error.what());
        } catch (...) {
            thrown.emplace_back(side->basename(), kNamelessError);
        }
    }
    for (const auto& [unit, what] : thrown) failures_.report(unit, what);
    if (theirs) std::rethrow_exception(theirs);
}

void Top::release()
{
    if (!std::exchange(held_, false)) return;
    clock_.restart();
    mcif_->restart();
    if (cvif_) cvif_->restart();
}

Top::~Top() = default;

UnitAdapter* Top::adapter(std::string_view unit) const
{
    const auto there = std::ranges::find(adapters_, unit, [](const auto& each) { return std::string_view(each->basename()); });
    return there == adapters_.end() ? nullptr : there->get();
}

/// Both sides of every memory link learn whom to wake.
void Top::connect(Clients& clients, UnitModule& interface)
{
    for (std::size_t i = 0; i < kClients; ++i) {
        UnitModule* unit = adapter(unit_of_client(i));
        clients.read[i].request.connect(unit, &interface);
        clients.read[i].response.connect(&interface, unit);
        clients.read[i].credit.reader = &interface;
    }
    for (std::size_t i = 0; i < kWriteClients; ++i) {
        UnitModule* unit = adapter(unit_of_client(i));
        clients.write[i].request.connect(unit, &interface);
        clients.write[i].complete.reader = unit;
    }
}

void Top::attach(ProbeSet& probes)
{
    const auto read = [&](Client client, const std::string& request, const std::string& response) {
        ReadLink& link = links_->primary->read[index(client)];
        link.request.valid_probe = probes.get(request + "_valid");
        link.request.set_ready_probe(probes.get(request + "_ready"));
        link.response.valid_probe = probes.get(response + "_valid");
        link.response.set_ready_probe(probes.get(response + "_ready"));
    };
    read(Client::CdmaData, "cdma_dat2mcif_rd_req", "mcif2cdma_dat_rd_rsp");
    read(Client::CdmaWeight, "cdma_wt2mcif_rd_req", "mcif2cdma_wt_rd_rsp");
    read(Client::Pdp, "pdp2mcif_rd_req", "mcif2pdp_rd_rsp");
    read(Client::Cdp, "cdp2mcif_rd_req", "mcif2cdp_rd_rsp");
    const auto write = [&](Client client, const std::string& request) -> WriteLink& {
        WriteLink& link = links_->primary->write[index(client)];
        link.request.valid_probe = probes.get(request + "_valid");
        link.request.set_ready_probe(probes.get(request + "_ready"));
        return link;
    };
    write(Client::Sdp, "sdp2mcif_wr_req");
    write(Client::Pdp, "pdp2mcif_wr_req");
    write(Client::Cdp, "cdp2mcif_wr_req").complete.probe = probes.get("mcif2cdp_wr_rsp_complete");
    links_->sdp_pdp.valid_probe = probes.get("sdp2pdp_valid");
    links_->sdp_pdp.set_ready_probe(probes.get("sdp2pdp_ready"));
    links_->cacc_sdp.valid_probe = probes.get("cacc2sdp_valid");
    links_->cacc_sdp.set_ready_probe(probes.get("cacc2sdp_ready"));
    links_->cdma_csc.data_filled.probe = probes.get("cdma2sc_dat_updt");
    links_->cdma_csc.weight_filled.probe = probes.get("cdma2sc_wt_updt");
    links_->cdma_csc.data_released.probe = probes.get("sc2cdma_dat_updt");
    links_->cdma_csc.weight_released.probe = probes.get("sc2cdma_wt_updt");
    for (UnitModule* unit : units_) unit->core().attach(probes);
    // Beats of every client at every port, by the probe that is there already or by one of their own.
    const auto beats = [&](auto& channel, Client client, const char* way, const char* port) {
        const std::string name = std::string(kClientNames[index(client)]) + way + port;
        if (channel.valid_probe) probes.client(name, channel.valid_probe);
        else channel.valid_probe = probes.client(name, nullptr);
    };
    for (const auto& [side, port] : {std::pair{links_->primary.get(), "DBB"}, std::pair{links_->secondary.get(), "CVSRAM"}}) {
        if (!side) continue;
        for (std::size_t i = 0; i < kClients; ++i) beats(side->read[i].response, static_cast<Client>(i), " reads ", port);
        for (std::size_t i = 0; i < kWriteClients; ++i) beats(side->write[i].request, static_cast<Client>(i), " writes ", port);
    }
    for (const auto& [unit, link] : links_->of) link->uses = probes.groups(std::string(unit));
}

void Top::watch(MemoryWatch* primary, MemoryWatch* secondary, CbufWatch* cbuf)
{
    mcif_->watch(primary);
    if (cvif_) cvif_->watch(secondary);
    links_->cbuf.watch = cbuf;
}

void Top::follow(WaitLogs& logs, BurstLogs& primary, BurstLogs& secondary)
{
    for (UnitModule* unit : units_) unit->core().follow(logs);
    mcif_->follow(&primary);
    if (cvif_) cvif_->follow(&secondary);
}

void Top::note_pending()
{
    mcif_->note_pending();
    if (cvif_) cvif_->note_pending();
}

std::uint64_t Top::evaluations() const
{
    std::uint64_t sum = 0;
    for (const UnitModule* unit : units_) sum += unit->evaluations();
    return sum;
}

void Top::catch_up(Cycle end)
{
    for (UnitModule* unit : units_) unit->core().catch_up(end);
}

const Cbuf& Top::cbuf() const { return links_->cbuf; }

const std::uint32_t* Top::finished(std::string_view unit) const
{
    for (const auto& [name, link] : links_->of)
        if (name == unit) return &link->finished;
    return nullptr;
}

std::vector<std::pair<std::string_view, RegisterFile*>> Top::register_files() const
{
    std::vector<std::pair<std::string_view, RegisterFile*>> files;
    for (const auto& [name, link] : links_->of) files.emplace_back(name, link->registers);
    return files;
}

void Top::count_from(Cycle first)
{
    mcif_->traffic().mark(first);
    if (cvif_) cvif_->traffic().mark(first);
}

}  // namespace dlasim
