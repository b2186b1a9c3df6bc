dlasim_test(cdma_replay_test.cpp quick USES dlasim::cdma nlohmann_json::nlohmann_json)
dlasim_test(cdma_convert_test.cpp golden USES dlasim::cdma nlohmann_json::nlohmann_json)
dlasim_test(cdma_examples_test.cpp quick USES dlasim::cdma nlohmann_json::nlohmann_json)
dlasim_test(cdma_weights_test.cpp quick USES dlasim::cdma)
