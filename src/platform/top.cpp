#include "platform/top.h"

#include <string_view>

#include "base/error.h"
#include "facts/csb.h"

namespace dlasim {

struct Top::Clients {
    std::array<ReadLink, kClients> read;
    std::array<WriteLink, kWriteClients> write;
};

namespace {

constexpr std::size_t index(Client client) { return static_cast<std::size_t>(client); }

/// Units whose window a configuration decodes. csb.md 1.2.
bool decoded(const Hardware& hardware, std::string_view unit)
{
    if (unit == "CVIF") return hardware.memory.has_secondary;
    if (unit == "BDMA") return hardware.bdma;
    if (unit == "RBK") return hardware.rubik;
    if (unit == "GEC") return facts::csb::of(hardware).gec;
    return true;
}

}  // namespace

Top::Top(const sc_core::sc_module_name& name, const Hardware& hardware, Clock& clock, const TopOptions& options)
    : sc_module(name), hardware_(hardware), primary_(std::make_unique<Clients>()), cbuf_(hardware.cbuf)
{
    const bool stepping = options.stepping;
    if (hardware.memory.has_secondary) {
        secondary_ = std::make_unique<Clients>();
        cvsram = std::make_unique<tlm::tlm_initiator_socket<512>>("cvsram");
    }
    const auto read = [](std::unique_ptr<Clients>& side, Client client) { return side ? &side->read[index(client)] : nullptr; };
    const auto write = [](std::unique_ptr<Clients>& side, Client client) { return side ? &side->write[index(client)] : nullptr; };

    // Register windows. Units without a data path here store their registers.
    std::vector<CsbMaster::Window> windows;
    const auto window = [&](std::string_view unit_name) -> CsbLink& {
        for (const CsbMaster::Window& w : windows)
            if (w.unit->name == unit_name) return *w.link;
        throw InternalError("a unit that is built has no register window: " + std::string(unit_name));
    };
    for (const UnitRegisters& unit : register_units(hardware)) {
        if (!decoded(hardware, unit.name)) continue;
        if (unit.name == "GEC") {
            windows.push_back({&unit, nullptr, 0});
            continue;
        }
        csb_links_.push_back(std::make_unique<CsbLink>());
        link_of_.emplace_back(unit.name, csb_links_.back().get());
        const bool retimed = unit.name == "CMAC_A" || unit.name == "CMAC_B" || unit.name == "CACC";
        windows.push_back({&unit, csb_links_.back().get(), retimed ? facts::csb::of(hardware).retiming : 0});
        if (unit.name == "CFGROM")
            passive_.push_back(std::make_unique<Coat>("CFGROM", clock, stepping, std::make_unique<PassiveCore>(unit, *csb_links_.back()),
                                                      *csb_links_.back()));
    }
    csb_master_ = std::make_unique<CsbMaster>("CSB", clock, windows);
    csb_master_->fail_with(failures_);
    csb.bind(csb_master_->socket);

    // Memory interfaces.
    const auto interface_ports = [&](Clients& side, std::string_view unit) {
        McifLinks ports{.csb = window(unit)};
        for (std::size_t i = 0; i < kClients; ++i) ports.read[i] = &side.read[i];
        for (std::size_t i = 0; i < kWriteClients; ++i) ports.write[i] = &side.write[i];
        return ports;
    };
    mcif_ =
        std::make_unique<Mcif>("MCIF", clock, stepping, hardware, MemorySide::Primary, interface_ports(*primary_, "MCIF"), options.values);
    mcif_->memory.bind(dbb);
    if (secondary_) {
        cvif_ = std::make_unique<Mcif>("CVIF", clock, stepping, hardware, MemorySide::Secondary, interface_ports(*secondary_, "CVIF"),
                                       options.values);
        cvif_->memory.bind(*cvsram);
    }

    const auto coat = [&](const char* unit, auto make, const auto& ports, auto... rest) {
        return std::make_unique<Coat>(unit, clock, stepping, make(hardware_, ports, rest...), ports);
    };

    // The convolution pipeline.
    cdma_ = coat("CDMA", make_cdma,
                 CdmaPorts{window("CDMA"), *read(primary_, Client::CdmaData), *read(primary_, Client::CdmaWeight),
                           read(secondary_, Client::CdmaData), read(secondary_, Client::CdmaWeight), cdma_csc_, cbuf_, cdma_interrupt_},
                 options.values);
    csc_ = coat("CSC", make_csc, CscPorts{window("CSC"), cdma_csc_, cbuf_, stripes_a_, stripes_b_, credit_}, options.values);
    cmac_a_ = coat("CMAC_A", make_cmac, CmacPorts{window("CMAC_A"), stripes_a_, sums_a_}, MacHalf::A, options.values);
    cmac_b_ = coat("CMAC_B", make_cmac, CmacPorts{window("CMAC_B"), stripes_b_, sums_b_}, MacHalf::B, options.values);
    cacc_ = coat("CACC", make_cacc, CaccPorts{window("CACC"), sums_a_, sums_b_, cacc_sdp_, credit_, cacc_interrupt_}, options.values);
    constexpr Client kSdpReads[] = {Client::Sdp, Client::SdpBs, Client::SdpBn, Client::SdpEw};
    SdpPorts sdp{window("SDP"),  window("SDP_RDMA"), cacc_sdp_, *write(primary_, Client::Sdp), write(secondary_, Client::Sdp), {}, {},
                 sdp_interrupt_, &sdp_pdp_};
    for (std::size_t i = 0; i < 4; ++i) {
        if (kSdpReads[i] == Client::SdpEw && !hardware.sdp.has_ew) continue;
        sdp.read_mc[i] = read(primary_, kSdpReads[i]);
        sdp.read_cv[i] = read(secondary_, kSdpReads[i]);
    }
    sdp_ = coat("SDP", make_sdp, sdp, options.values);
    pdp_ = coat("PDP", make_pdp,
                PdpPorts{window("PDP"), window("PDP_RDMA"), sdp_pdp_, *read(primary_, Client::Pdp), read(secondary_, Client::Pdp),
                         *write(primary_, Client::Pdp), write(secondary_, Client::Pdp), pdp_interrupt_},
                options.values);

    // Memory to memory.
    cdp_ = coat("CDP", make_cdp,
                CdpPorts{window("CDP"), window("CDP_RDMA"), *read(primary_, Client::Cdp), read(secondary_, Client::Cdp),
                         *write(primary_, Client::Cdp), write(secondary_, Client::Cdp), cdp_interrupt_},
                options.values);
    const auto transfer_ports = [&](const char* unit, Client client, Pulse<std::uint32_t>& done) {
        return TransferPorts{
            window(unit), *read(primary_, client), *read(secondary_, client), *write(primary_, client), *write(secondary_, client), done};
    };
    if (hardware.bdma) bdma_ = coat("BDMA", make_bdma, transfer_ports("BDMA", Client::Bdma, bdma_interrupt_));
    if (hardware.rubik) rubik_ = coat("RBK", make_rubik, transfer_ports("RBK", Client::Rubik, rubik_interrupt_));
    glb_ = std::make_unique<Glb>("GLB", clock, stepping, hardware, window("GLB"),
                                 std::vector<Pulse<std::uint32_t>*>{&cdma_interrupt_, &cacc_interrupt_, &sdp_interrupt_, &pdp_interrupt_,
                                                                    &cdp_interrupt_, &bdma_interrupt_, &rubik_interrupt_});
    glb_->interrupt.bind(interrupt);

    connect(*primary_, *mcif_);
    if (secondary_) connect(*secondary_, *cvif_);
    if (options.events) {
        mcif_->traffic().record_commands();
        if (cvif_) cvif_->traffic().record_commands();
    }
    cacc_sdp_.connect(cacc_.get(), sdp_.get());
    sdp_pdp_.connect(sdp_.get(), pdp_.get());

    units_ = {mcif_.get()};
    if (cvif_) units_.push_back(cvif_.get());
    units_.insert(units_.end(), {cdma_.get(), csc_.get(), cmac_a_.get(), cmac_b_.get(), cacc_.get(), sdp_.get(), pdp_.get(), cdp_.get()});
    if (bdma_) units_.push_back(bdma_.get());
    if (rubik_) units_.push_back(rubik_.get());
    units_.push_back(glb_.get());
    for (UnitModule* unit : units_) unit->failures = &failures_;
    for (const auto& unit : passive_) unit->failures = &failures_;
}

Top::~Top() = default;

/// Both sides of every memory link learn whom to wake.
void Top::connect(Clients& clients, UnitModule& interface)
{
    const auto owner = [this](Client client) -> UnitModule* {
        switch (client) {
            case Client::Bdma:
                return bdma_.get();
            case Client::Rubik:
                return rubik_.get();
            case Client::CdmaData:
            case Client::CdmaWeight:
                return cdma_.get();
            case Client::Pdp:
                return pdp_.get();
            case Client::Cdp:
                return cdp_.get();
            default:
                return sdp_.get();
        }
    };
    for (std::size_t i = 0; i < kClients; ++i) {
        UnitModule* unit = owner(static_cast<Client>(i));
        clients.read[i].request.connect(unit, &interface);
        clients.read[i].response.connect(&interface, unit);
        clients.read[i].credit.reader = &interface;
    }
    for (std::size_t i = 0; i < kWriteClients; ++i) {
        UnitModule* unit = owner(static_cast<Client>(i));
        clients.write[i].request.connect(unit, &interface);
        clients.write[i].complete.reader = unit;
    }
}

void Top::attach(ProbeSet& probes)
{
    const auto read = [&](Client client, const std::string& request, const std::string& response) {
        ReadLink& link = primary_->read[index(client)];
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
        WriteLink& link = primary_->write[index(client)];
        link.request.valid_probe = probes.get(request + "_valid");
        link.request.set_ready_probe(probes.get(request + "_ready"));
        return link;
    };
    write(Client::Sdp, "sdp2mcif_wr_req");
    write(Client::Pdp, "pdp2mcif_wr_req");
    write(Client::Cdp, "cdp2mcif_wr_req").complete.probe = probes.get("mcif2cdp_wr_rsp_complete");
    sdp_pdp_.valid_probe = probes.get("sdp2pdp_valid");
    sdp_pdp_.set_ready_probe(probes.get("sdp2pdp_ready"));
    cacc_sdp_.valid_probe = probes.get("cacc2sdp_valid");
    cacc_sdp_.set_ready_probe(probes.get("cacc2sdp_ready"));
    cdma_csc_.data_filled.probe = probes.get("cdma2sc_dat_updt");
    cdma_csc_.weight_filled.probe = probes.get("cdma2sc_wt_updt");
    cdma_csc_.data_released.probe = probes.get("sc2cdma_dat_updt");
    cdma_csc_.weight_released.probe = probes.get("sc2cdma_wt_updt");
    for (UnitModule* unit : units_) unit->core().attach(probes);
}

void Top::watch(MemoryWatch* primary, MemoryWatch* secondary, CbufWatch* cbuf)
{
    mcif_->watch(primary);
    if (cvif_) cvif_->watch(secondary);
    cbuf_.watch = cbuf;
}

const std::uint32_t* Top::finished(std::string_view unit) const
{
    for (const auto& [name, link] : link_of_)
        if (name == unit) return &link->finished;
    return nullptr;
}

void Top::count_from(Cycle first)
{
    mcif_->traffic().mark(first);
    if (cvif_) cvif_->traffic().mark(first);
}

}  // namespace dlasim
