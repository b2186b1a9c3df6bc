dlasim_test(cdma_replay_test.cpp quick USES dlasim::cdma_core nlohmann_json::nlohmann_json)
