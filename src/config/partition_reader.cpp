#include "config/partition_reader.h"

#include "config/descriptor_keys.h"

namespace dlasim {

Partition read_partition(const JsonObject& layer)
{
    Partition partition;
    if (!layer.has("partition")) return partition;
    const Json& value = layer.raw("partition");
    if (!value.is_object()) {
        if (value != "auto")
            throw ConfigError(layer.where("partition"), found(value) + ", expected \"auto\" or an object {\"rows\", \"kernels\", ...}");
        partition.automatic = true;
        return partition;
    }
    const JsonObject object = layer.object("partition", keys::kPartition);
    const auto number = [&](const char* key) { return object.has(key) ? static_cast<std::uint32_t>(object.integer(key)) : 0; };
    partition.rows = number("rows");
    partition.columns = number("columns");
    partition.phases = object.flag("dilation_phases", false);
    partition.kernels = number("kernels");
    partition.data_banks = number("data_banks");
    partition.weight_banks = number("weight_banks");
    partition.padded = object.flag("padded", false);
    partition.reuse_data = object.flag("reuse_data", false);
    partition.reuse_weights = object.flag("reuse_weights", false);
    if (!partition.on())
        throw ConfigError(layer.where("partition"), found(value) +
                                                        ", expected \"rows\", \"kernels\", \"columns\", \"dilation_phases\", "
                                                        "\"data_banks\" or \"weight_banks\" in it, or \"auto\"");
    return partition;
}

OrderedJson partition_json(const Partition& partition)
{
    if (partition.automatic) return "auto";
    OrderedJson json = OrderedJson::object();
    for (const auto& [key, number] :
         {std::pair{"rows", partition.rows}, std::pair{"columns", partition.columns}, std::pair{"kernels", partition.kernels},
          std::pair{"data_banks", partition.data_banks}, std::pair{"weight_banks", partition.weight_banks}})
        if (number != 0) json[key] = number;
    if (partition.phases) json["dilation_phases"] = true;
    if (partition.padded) json["padded"] = true;
    json["reuse_data"] = partition.reuse_data;
    json["reuse_weights"] = partition.reuse_weights;
    return json;
}

}  // namespace dlasim
