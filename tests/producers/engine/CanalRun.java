import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONWriter;
import com.alibaba.otter.canal.connector.core.producer.MQMessageUtils;
import com.alibaba.otter.canal.connector.core.util.CanalMessageSerializerUtil;
import com.alibaba.otter.canal.instance.manager.CanalInstanceWithManager;
import com.alibaba.otter.canal.instance.manager.model.Canal;
import com.alibaba.otter.canal.instance.manager.model.CanalParameter;
import com.alibaba.otter.canal.protocol.CanalEntry;
import com.alibaba.otter.canal.protocol.ClientIdentity;
import com.alibaba.otter.canal.protocol.FlatMessage;
import com.alibaba.otter.canal.protocol.Message;
import com.alibaba.otter.canal.server.embedded.CanalServerWithEmbedded;
import java.io.BufferedWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs a server of Canal inside this process on a binlog, until it has sent the last row, and writes flat messages.
 *
 * <p>Arguments: port of the database, user, password, binlog file and position to start at, the table whose first row
 * ends the run, the file to write. It prints {@code started} when it reads the binlog, and {@code position N} when it
 * has written what is before that position.
 */
public final class CanalRun {
    private static final String TOPIC = "shop";
    private static final int BATCH = 50;

    private CanalRun() {}

    public static void main(String[] arguments) throws Exception {
        String lastTable = arguments[5];
        CanalServerWithEmbedded server = CanalServerWithEmbedded.instance();
        Canal canal = new Canal();
        canal.setId(1L);
        canal.setName(TOPIC);
        canal.setCanalParameter(parametersOf(arguments));
        server.setCanalInstanceGenerator(destination -> new CanalInstanceWithManager(canal, ""));
        server.start();
        server.start(TOPIC);
        ClientIdentity client = new ClientIdentity(TOPIC, (short) 1001, "");
        server.subscribe(client);
        System.out.println("started");
        System.out.flush();
        boolean whole = false;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(240);
        ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        try (BufferedWriter file = Files.newBufferedWriter(Path.of(arguments[6]))) {
            while (!whole && System.nanoTime() < deadline) {
                Message message = server.getWithoutAck(client, BATCH, 500L, TimeUnit.MILLISECONDS);
                if (message.getId() == -1) {
                    continue;
                }
                List<FlatMessage> flat = MQMessageUtils.messageConverter(
                        MQMessageUtils.buildMessageData(message, thread), message.getId());
                for (FlatMessage one : flat) {
                    file.write(lineOf(one));
                    file.newLine();
                    whole |= lastTable.equals(one.getTable()) && "INSERT".equals(one.getType());
                }
                server.ack(client, message.getId());
                CanalEntry.Header last = message.getEntries().get(message.getEntries().size() - 1).getHeader();
                System.out.println("position " + (last.getLogfileOffset() + last.getEventLength()));
                System.out.flush();
            }
        }
        System.out.println(whole ? "whole" : "partial");
        System.out.flush();
        Runtime.getRuntime().halt(whole ? 0 : 1);
    }

    private static CanalParameter parametersOf(String[] arguments) {
        CanalParameter parameters = new CanalParameter();
        parameters.setMetaMode(CanalParameter.MetaMode.MEMORY);
        parameters.setHaMode(CanalParameter.HAMode.HEARTBEAT);
        parameters.setIndexMode(CanalParameter.IndexMode.MEMORY);
        parameters.setStorageMode(CanalParameter.StorageMode.MEMORY);
        parameters.setMemoryStorageBufferSize(16 * 1024);
        parameters.setSourcingType(CanalParameter.SourcingType.MYSQL);
        parameters.setDbAddresses(List.of(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]))));
        parameters.setDbUsername(arguments[1]);
        parameters.setDbPassword(arguments[2]);
        parameters.setPositions(List.of(
                "{\"journalName\":\"" + arguments[3] + "\",\"position\":" + arguments[4] + ",\"timestamp\":0}"));
        parameters.setSlaveId(1234L);
        parameters.setDefaultConnectionTimeoutInSeconds(30);
        parameters.setConnectionCharset("UTF-8");
        parameters.setConnectionCharsetNumber((byte) 33);
        parameters.setReceiveBufferSize(8 * 1024);
        parameters.setSendBufferSize(8 * 1024);
        parameters.setDetectingEnable(false);
        parameters.setDdlIsolation(false);
        parameters.setFilterTableError(false);
        parameters.setTsdbEnable(false);
        parameters.setGtidEnable(false);
        parameters.setParallel(false);
        parameters.setMemoryStorageRawEntry(false); // entries are objects, whose positions can be read
        return parameters;
    }

    private static String lineOf(FlatMessage message) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("topic", TOPIC);
        line.put("partition", 0);
        line.put("key", null);
        // As Canal's producer for Kafka writes them.
        line.put("value", new String(JSON.toJSONBytes(message, JSONWriter.Feature.WriteNulls), StandardCharsets.UTF_8));
        line.put("headers", List.of());
        return JSON.toJSONString(line, JSONWriter.Feature.WriteNulls);
    }
}
